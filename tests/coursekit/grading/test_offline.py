"""The beginning that all pages of grading share."""

from coursekit.grading import feedback, likeness, text_page
from coursekit.grading.offline import HEAD


def test_every_page_begins_with_it_and_loads_and_runs_nothing():
    assert "default-src 'none'" in HEAD
    assert "script" not in HEAD
    for module in (feedback, likeness, text_page):
        assert module.PAGE.startswith(HEAD)


def test_it_may_stand_in_a_template():
    assert HEAD.format() == HEAD
