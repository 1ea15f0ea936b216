"""Which scripts of `book/live` and which packs of weights each live figure loads."""

from __future__ import annotations

from collections.abc import Iterable

SCRIPTS = (  # of every page with live figures, in this order
    *(f"engine/{name}.js" for name in ("products", "algebra", "weights")),
    *(f"{name}.js" for name in ("controls", "plane", "bars", "links", "frame")),
)
FIGURES: dict[str, tuple[str, ...]] = {  # the packs of weights that each loads
    "query": (),
    "masks": (),
    "online_softmax": (),
    "addressing": (),
    "positions": (),
    "translator": ("translator",),
    "beam": ("translator",),
    "aligner": ("numbers",),
    "bottleneck": ("plain_numbers",),
    "tape": ("ntm",),
    "courier": ("courier",),
    "pointers": ("hull", "tour"),
    "captioner": ("soft", "hard"),
    "gradient": (),
    "learner": (),
    "binding": (),
    "window": (),
    "writing": (),
    "feature_map": (),
    "smollm2_heads": ("smollm2_heads",),
    "sampling": ("smollm2_next_words",),
    "stories": ("smollm2_stories",),
    "sharpness": (),
    "copier_by_hand": (),
    "memories": (),
    "self_attention": (),
    "depth": (),
    "reinforce": (),
    "donor": ("donor",),
    "patches": ("patches",),
}
RECURRENT = ("engine/attention", "engine/recurrent")
TRANSFORMER = ("engine/blocks", "engine/transformer", "engine/beam", "engine/byte_pairs")
PARTS: dict[str, tuple[str, ...]] = {  # what a figure is made of besides, in the order in which it loads
    "addressing": ("engine/ntm",),
    "tape": ("engine/ntm",),
    "translator": (*TRANSFORMER, "parts/translations", "parts/translator_views"),
    "beam": TRANSFORMER,
    "aligner": (*RECURRENT, "engine/numbers", "parts/alignment", "parts/value_map"),
    "bottleneck": (*RECURRENT, "engine/numbers"),
    "captioner": (
        *RECURRENT,
        "engine/convolution",
        "engine/captioner",
        "parts/digits",
        "parts/captions",
        "parts/digit_board",
    ),
    "donor": ("engine/convolution", "engine/sagan"),
    "writing": ("parts/writers",),
    "courier": ("engine/blocks", "engine/courier", "engine/tours", "parts/point_board"),
    "pointers": (
        *RECURRENT,
        "engine/blocks",
        "engine/pointer",
        "engine/tours",
        "parts/point_board",
        "parts/judged_in_words",
    ),
}


def files_of(names: Iterable[str]) -> list[str]:
    """The scripts of these figures besides SCRIPTS, each once: the parts of a figure, then its own."""
    files = (f"{file}.js" for name in names for file in (*PARTS.get(name, ()), f"figures/{name}"))
    return list(dict.fromkeys(files))
