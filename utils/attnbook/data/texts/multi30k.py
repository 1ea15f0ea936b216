"""Multi30k: captions of photographs in English, and what translators made of them in German.

29,000 captions to train on, 1,014 for validation and two tests of 1,000. The files are those of the public repository
multi30k/dataset, and nothing of them lies in this one: they are read from the folder that ``ATTNBOOK_DATA`` names, or
fetched once and kept in the folder where the system keeps such things.

Source: Elliott, Frank, Sima'an and Specia 2016; the captions themselves are from Young et al. 2014 (Flickr30k).
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path

from attnbook.extras import needed_from
from attnbook.folders import DATA, cache_folder, named_folder

SHA256 = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2017_flickr.en.gz": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    "test_2017_flickr.de.gz": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
}
SPLITS = ("train", "val", "test_2016_flickr", "test_2017_flickr")
LANGUAGES = ("en", "de")
ADDRESS = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/"


def lines(split: str, language: str = "en") -> list[str]:
    """The captions of a split, one string per caption; line i in German says what line i says in English.

    The file is ``multi30k/SPLIT.LANGUAGE.gz`` in the folder that ``ATTNBOOK_DATA`` names; if it is not there, it is
    fetched and kept. Either way its checksum is compared.

    Args:
        split: ``"train"``, ``"val"``, ``"test_2016_flickr"`` or ``"test_2017_flickr"``.
        language: ``"en"`` or ``"de"``.

    Raises:
        ValueError: for another split or language, if ``ATTNBOOK_DATA`` names no folder, or a file is damaged.
        ConnectionError: if the file is not there and cannot be fetched; the message says what to do.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
    return list(_read(f"{split}.{language}.gz"))


@cache
def _read(name: str) -> tuple[str, ...]:
    path = _given(name) or _fetched(name)
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    return tuple(" ".join(line.split()) for line in text.splitlines())


def _given(name: str) -> Path | None:
    """The file in the reader's own folder, or ``None`` where there is none."""
    folder = named_folder(DATA)
    path = folder / "multi30k" / name if folder else None
    if path is None or not path.is_file():
        return None
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != SHA256[name]:
        raise ValueError(
            f"{path} has the checksum {found[:12]}…, not {SHA256[name][:12]}…, so it is damaged or another version; "
            f"delete it, or fetch it again from {ADDRESS}{name}"
        )
    return path


def _fetched(name: str) -> Path:
    """The file in the system's folder for such things; pooch writes it there only when it is whole."""
    with needed_from("notebooks"):
        import pooch
    try:
        folder = cache_folder() / "multi30k"
        return Path(pooch.retrieve(ADDRESS + name, SHA256[name], fname=name, path=folder))
    except OSError as error:
        raise ConnectionError(
            f"{name} of Multi30k is not on this machine and could not be fetched ({type(error).__name__}). Run this "
            f"again with a connection, or copy {ADDRESS}{name} into a folder `multi30k` and let the environment "
            f"variable {DATA} name the folder that holds it"
        ) from error
