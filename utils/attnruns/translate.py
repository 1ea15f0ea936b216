"""``python -m attnruns.translate "Ein Hund läuft durch den Schnee."``: chapter 18's Transformer translates a sentence.

The weights and the pieces lie in ``results/weights``; neither the corpus nor a GPU is needed. It has read captions of
photographs and nothing else, so that is what it can translate.
"""

import argparse
import json
import sys
import unicodedata
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from attnbook.data.texts.byte_pairs import BytePairs
from attnbook.data.texts.translation import check_pair
from attnbook.data.texts.vocabulary import Vocabulary
from attnbook.decoding import DecoderModule, beam
from attnbook.modes import evaluating
from attnruns.results import result_folders

WIDTH, ALPHA = 5, 0.6  # of the beam, as in Vaswani et al. 2017 (there of width 4)
MOST = 60  # pieces of a translation
SHADES = " ░▒▓█"  # from no weight to all of it


class Translator(NamedTuple):
    """A trained model and the pieces of both of its languages."""

    model: DecoderModule
    source_pieces: BytePairs
    target_pieces: BytePairs


class Translation(NamedTuple):
    """A sentence, and what it was made from.

    Fields:
        text: the translation. source, target: pieces of both. weights: ``(T, Tk)``, where each piece attended to.
    """

    text: str
    source: list[str]
    target: list[str]
    weights: Tensor


def pieces_file(pair: str) -> str:
    """Where the pieces of a pair of languages lie, seen from the folder of results."""
    return f"weights/translate_pieces_{pair.replace('-', '_')}.json"


def read_pieces(pair: str = "de-en") -> tuple[BytePairs, BytePairs]:
    """The pieces that the experiment ``translate`` has left: of the source and of the target.

    Raises:
        ValueError: if there are none.
    """
    found = [folder / pieces_file(pair) for folder in result_folders() if (folder / pieces_file(pair)).is_file()]
    if not found:
        raise ValueError(f"no results/{pieces_file(pair)}: run python -m attnbook.experiments translate --pair {pair}")
    saved = json.loads(found[0].read_text(encoding="utf-8"))
    return BytePairs.from_saved(saved["source"]), BytePairs.from_saved(saved["target"])


def saved_pieces(source: BytePairs, target: BytePairs) -> str:
    """The text of that file."""
    return json.dumps({"source": source.saved(), "target": target.saved()}, ensure_ascii=False, indent=0) + "\n"


@cache
def translator(pair: str = "de-en", name: str = "transformer", seed: int = 0) -> Translator:
    """A trained model of the experiment ``translate``.

    Args:
        name: of the model, without the pair.

    Raises:
        ValueError: for another pair or name, or if the experiment left no weights of this model.
    """
    from attnruns.experiments import translate as experiment  # a reader who only translates needs no experiment before

    check_pair(pair)
    return Translator(experiment.trained(f"{name}_{pair.replace('-', '_')}", seed), *read_pieces(pair))


def translate(sentence: str, pair: str = "de-en", name: str = "transformer") -> Translation:
    """Translate one sentence by beam search, and say what each piece of the translation attended to.

    Args:
        pair: of languages, ``"de-en"`` or ``"en-de"``. name: of the model, as for :func:`translator`.

    Raises:
        ValueError: if the sentence is empty, or there is no such model for the pair.
    """
    if not sentence.strip():
        raise ValueError("sentence is empty; give one such as 'Ein Hund läuft durch den Schnee.'")
    model, source_pieces, target_pieces = translator(pair, name)
    words = source_pieces.encode(" ".join(unicodedata.normalize("NFC", sentence).split()))  # as the corpus writes ü
    source = torch.tensor([source_pieces.vocabulary().encode(words)])  # (1, Tk)
    lengths = torch.tensor([len(words)])
    vocabulary: Vocabulary = target_pieces.vocabulary()
    tokens = beam(model, source, lengths, max_length=MOST, width=WIDTH, alpha=ALPHA).tokens[:, 0]  # (1, L)
    target = vocabulary.decode(tokens[0])
    return Translation(
        target_pieces.decode(target), words, target, attended(model, source, lengths, tokens, len(target))
    )


@evaluating
def attended(model: DecoderModule, source: Tensor, lengths: Tensor, tokens: Tensor, count: int) -> Tensor:
    """The weights ``(count, Tk)`` with which the model writes ``tokens (1, L)``."""
    from attnbook.data import shift_right

    return model(source, lengths, shift_right(tokens))[1][0, :count]


def drawn(translation: Translation) -> str:
    """The attention map in letters: a row for each piece of the translation, a weight below each of the source."""
    width = max(map(len, translation.target), default=0)
    shades = (translation.weights * len(SHADES)).long().clamp(max=len(SHADES) - 1)  # (T, Tk)
    columns = [len(piece) for piece in translation.source]
    rows = [
        f"{piece:>{width}} " + " ".join(SHADES[shade] * wide for shade, wide in zip(row, columns, strict=True))
        for piece, row in zip(translation.target, shades.tolist(), strict=True)
    ]
    return "\n".join([f"{'':>{width}} " + " ".join(translation.source), *rows])


def draw_picture(translation: Translation, file: str) -> None:
    """Draw the attention map into a file, whose ending says of which kind. Raises ValueError for an unknown ending."""
    from attnpages.figures import plot_alignment

    figure = plot_alignment(translation.weights, translation.source, translation.target).get_figure(root=True)
    figure.savefig(file, bbox_inches="tight")  # type: ignore[union-attr]  # axes that were drawn on have one


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, and print the translation and what it attended to."""
    parser = argparse.ArgumentParser(prog="python -m attnruns.translate", description=__doc__)
    parser.add_argument("sentence", help="in quotes")
    parser.add_argument("--pair", default="de-en", help="default: de-en")
    parser.add_argument("--model", default="transformer", help="of the experiment translate; default: transformer")
    parser.add_argument("--picture", metavar="FILE", help="draw the attention map there (png, svg, pdf)")
    options = parser.parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without shades of grey
    try:
        found = translate(options.sentence, options.pair, options.model)
        if options.picture:
            draw_picture(found, options.picture)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(found.text if options.picture else f"{found.text}\n{drawn(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
