import pytest

from attnpages.figures.chapters.ch15_patch import KEYS, OURS, Read, draw_patch

PAIRS = [("cup", "red"), ("door", "blue")]
USUAL = Read({"red": 0.7, "blue": 0.0}, {"red": 0.64, "blue": 0.12})
EXCHANGED = Read({"red": 0.0, "blue": 0.95}, {"red": 0.09, "blue": 0.44})


def test_a_patch_gives_the_notes_of_the_twin_to_the_keys_alone():
    said = {text.get_position(): text.get_text() for text in draw_patch(PAIRS, USUAL, EXCHANGED).texts}
    assert [said[x, KEYS - 0.22] for x in (1, 3)] == ["+ door", "+ cup"]
    assert [said[x, OURS - 0.22] for x in (1, 3)] == ["+ cup", "+ door"]
    assert [said[x, 0.4] for x in (0, 1, 2, 3)] == ["door", "red", "cup", "blue"]


def test_a_patch_shows_its_numbers_with_those_of_before_in_brackets():
    said = [text.get_text() for text in draw_patch(PAIRS, USUAL, EXCHANGED).texts]
    assert {"0 %\n(70 %)", "95 %\n(0 %)", "blue 44 % (12 %)\nred 9 % (64 %)"} <= set(said)


@pytest.mark.parametrize(("pairs", "usual"), [(PAIRS[:1], USUAL), (PAIRS, Read({"red": 1.0}, {"red": 1.0}))])
def test_a_patch_needs_two_pairs_and_a_number_for_each_colour(pairs, usual):
    with pytest.raises(ValueError, match="pairs must be two"):
        draw_patch(pairs, usual, EXCHANGED)
