"""Whose a downloaded notebook is."""

import pytest

from coursekit.grading.owners import owners

LAB = "lab02_small"


def names(*places: str, people=()) -> list[str]:
    return [student for student, _ in owners([tuple(place.split("/")) for place in places], LAB, people)]


@pytest.mark.parametrize("places, students", [
    (["WRAP/ann/lab02.ipynb", "WRAP/bob/lab02.ipynb"], ["ann", "bob"]),
    (["a/b/ann/x.ipynb", "a/b/bob/deep/x.ipynb"], ["ann", "bob"]),
    (["homework/ann.ipynb", "homework/bob.IPYNB"], ["ann", "bob"]),
    (["ann/old/x.ipynb", "ann/new/x.ipynb", "bob/x.ipynb"], ["ann", "ann", "bob"]),
    (["ann/lab02.ipynb", "ann/lab02-Copy1.ipynb", "ann/old/lab02.ipynb"], ["ann", "ann", "ann"]),
    (["ann/deep/er/x.ipynb"], ["ann"]),
    ([f"{LAB}/ann/x.ipynb"], ["ann"]),
    (["lab02 (2)/ann.ipynb"], ["ann"]),
    ([f"{LAB}.ipynb"], [""]),
    (["...ipynb"], [""]),
])  # fmt: skip
def test_folders_that_all_share_and_names_of_the_lab_are_nobodys(places, students):
    assert names(*places) == students


@pytest.mark.parametrize("places, students", [
    (["all.zip/WRAP/ann/x.ipynb", "all.zip/WRAP/bob/x.ipynb", "carl/x.ipynb"], ["ann", "bob", "carl"]),
    (["1.zip/W/ann/x.ipynb", "1.zip/W/bob/x.ipynb", "2.ZIP/ann.ipynb", "2.ZIP/carl.ipynb"],
     ["ann", "bob", "ann", "carl"]),
    (["ann.zip/lab02.ipynb", f"bob.zip/{LAB}/{LAB}.ipynb"], ["ann", "bob"]),
    (["ann/work.zip/lab02.ipynb", "bob/work.zip/x.ipynb"], ["ann", "bob"]),
    (["all.zip/ann.zip/lab02.ipynb", "all.zip/bob.zip/x.ipynb"], ["ann", "bob"]),
    (["export/all.zip/ann/x.ipynb", "export/all.zip/bob/x.ipynb"], ["ann", "bob"]),
    ([f"{LAB}.zip/{LAB}.ipynb"], [""]),
])  # fmt: skip
def test_a_zip_stands_for_what_is_in_it_and_else_its_name_is_taken(places, students):
    assert names(*places) == students


@pytest.mark.parametrize("places, students", [
    (["ann.zip/hw/lab02.ipynb"], ["ann"]),
    (["ann.zip/hw/lab02.ipynb", "bob.zip/hw/lab02.ipynb"], ["ann", "bob"]),
    (["ann.zip/hw/lab02.ipynb", "ann.zip/hw/lab02-Copy1.ipynb", "bob.zip/hw/x.ipynb"], ["ann", "ann", "bob"]),
    (["ann.zip/hw/lab02.ipynb", "ann.zip/lab02.ipynb"], ["ann", "ann"]),
    (["ann.zip/mine.ipynb", "bob.zip/work.zip/mine.ipynb"], ["ann", "bob"]),
    ([f"{LAB}.zip/ann/x.ipynb"], ["ann"]),
])  # fmt: skip
def test_a_zip_that_holds_the_work_of_one_is_theirs(places, students):
    assert names(*places) == students


def test_a_list_or_a_platform_knows_better_than_the_zips_own_name():
    assert names("all.zip/ann/x.ipynb", people={"ann"}) == ["ann"]
    assert names("all.zip/leeann_17_4711_lab02.ipynb") == ["leeann"]
    assert names(f"all.zip/{MOODLE}/lab02.ipynb") == ["Ann Lee"]


@pytest.mark.parametrize("wrap", ["WRAP", "all.zip/WRAP"])
def test_a_loose_notebook_does_not_hide_a_folder_that_all_others_share(wrap):
    loose = f"{wrap.removesuffix('WRAP')}cy.ipynb"
    assert names(f"{wrap}/ann/lab02.ipynb", f"{wrap}/bob/lab02.ipynb", loose) == ["ann", "bob", "cy"]


def test_a_students_several_notebooks_beside_a_loose_one_stay_theirs():
    assert names("ann/1.ipynb", "ann/2.ipynb", "bob.ipynb") == ["ann", "ann", "bob"]


MOODLE = "Ann Lee_4711_assignsubmission_file_"


@pytest.mark.parametrize("place, owner", [
    (f"WRAP/{MOODLE}/lab02.ipynb", ("Ann Lee", "4711")),
    (f"all.zip/{MOODLE}/work.zip/bob/x.ipynb", ("Ann Lee", "4711")),
    ("all.zip/leeann_17_4711_lab02.zip/lab02/x.ipynb", ("leeann", "17")),
    ("leeann_LATE_17_4711_lab02.ipynb", ("leeann", "17")),
    ("ann/lab_02_1_mine.ipynb", ("ann", "")),
])  # fmt: skip
def test_what_a_platform_wrote_is_known_wherever_it_stands(place, owner):
    assert owners([tuple(place.split("/"))], LAB, ()) == [owner]


@pytest.mark.parametrize("inner", ["bobbie_18_assignsubmission_file_", "bobbie", "bobbie_18_4712_lab02.zip"])
@pytest.mark.parametrize("outer, owner", [
    ("leeann_17_4711_lab02.zip", ("leeann", "17")),
    ("all.zip/leeann_17_4711_lab02.zip", ("leeann", "17")),
    (f"all.zip/{MOODLE}/work.zip", ("Ann Lee", "4711")),
    ("Ann.zip", ("Ann", "")),
    ("Ann", ("Ann", "")),
])  # fmt: skip
def test_no_name_in_a_students_own_archive_gives_it_to_somebody_else(outer, owner, inner):
    place = tuple(f"{outer}/{inner}/lab02_bahdanau.ipynb".split("/"))
    others = [("bobbie_18_4712_lab02.ipynb",), ("all.zip", "bobbie_18_4712_lab02.ipynb")]
    assert owners([place, *others], LAB, {"ann", "bobbie"})[0] == owner


def test_a_name_of_the_list_is_taken_before_others():
    assert names("group/Lee, Ann/x.ipynb", people={"leeann"}) == ["Lee, Ann"]
    assert names("group/x/bob.ipynb", "group/y/z.ipynb", people={"bob"}) == ["bob", "y"]


def test_no_name_leads_anywhere_or_is_without_end():
    assert names("a:b?/x.ipynb", "./x.ipynb", f"{'x' * 999}/y.ipynb") == ["ab", "", "x" * 100]
