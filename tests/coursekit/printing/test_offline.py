"""The pages as one zip file."""

import io
import zipfile

from coursekit.printing.offline import offline_zip


def test_it_holds_every_page_in_one_folder_and_a_sentence_on_how_to_open_it(html):
    zipped = zipfile.ZipFile(io.BytesIO(offline_zip(html)))
    names = set(zipped.namelist())
    built = {path.relative_to(html).as_posix() for path in html.rglob("*") if path.is_file()} - {".buildinfo"}
    assert names == {f"paying-attention/{name}" for name in built | {"README.txt"}}
    assert "Open index.html" in zipped.read("paying-attention/README.txt").decode()
    assert zipped.read("paying-attention/book/part1.html") == (html / "book/part1.html").read_bytes()


def test_it_is_the_same_whenever_it_is_made(html):
    assert offline_zip(html) == offline_zip(html)
