import doctest
import importlib
import re
from datetime import date, timedelta

import pytest
from babel.dates import format_date

from attnbook.data.symbols.dates import FORMATS, dates, written_date

# all months, all weekdays, all days of the month
DAYS = [date(1950, 1, 1) + timedelta(days=97 * i) for i in range(376)]


@pytest.fixture(scope="module")
def task():
    return dates(train=4000)


def text(symbols):
    return "".join(symbols)


def test_the_examples_in_the_docstrings_are_right():
    result = doctest.testmod(importlib.import_module("attnbook.data.symbols.dates"))  # not the function of that name
    assert result.attempted > 0
    assert result.failed == 0


def test_there_are_thirteen_formats_or_more_in_several_locales():
    assert len(FORMATS) == len(set(FORMATS)) == 18
    assert len({locale for locale, _ in FORMATS}) == 9


@pytest.mark.parametrize(("locale", "pattern"), FORMATS)
def test_dates_are_written_as_babel_writes_them(locale, pattern):
    for day in DAYS:
        example = written_date(day, locale, pattern)
        assert text(example.source) == format_date(day, pattern, locale=locale)
        assert text(example.target) == day.isoformat()
        assert example.size == len(example.source)


def test_no_writing_means_two_dates():
    meaning = {}
    for day in [date(2000, 1, 1) + timedelta(days=i) for i in range(366)]:
        for locale, pattern in FORMATS:
            assert meaning.setdefault(written_date(day, locale, pattern).source, day) == day


@pytest.mark.parametrize(("locale", "pattern"), FORMATS)
def test_sure_links_join_equal_figures(locale, pattern):
    for day in DAYS[:60]:
        example = written_date(day, locale, pattern)
        assert example.sure <= example.possible
        assert all(example.source[s] == example.target[t] for s, t in example.sure)
        assert {0, 1, 2, 3, 9} <= {t for _, t in example.sure}
        assert {t for _, t in example.possible} == set(range(10))


def test_a_month_name_may_go_with_both_figures_of_the_month():
    example = written_date(date(1987, 9, 13), "de", "d. MMMM y")  # 13. September 1987
    name = range(4, 13)
    assert text(example.source[name.start : name.stop]) == "September"
    assert {(s, t) for s, t in example.possible if s in name} == {(s, t) for s in name for t in (5, 6)}
    assert not any(s in name for s, _ in example.sure)


def test_a_lone_figure_may_go_with_the_zero_before_it():
    example = written_date(date(1987, 9, 3), "en_US", "MMMM d, y")  # September 3, 1987
    assert {(s, t) for s, t in example.possible if s == 10} == {(10, 8), (10, 9)}
    assert (10, 9) in example.sure
    assert (10, 8) not in example.sure


def test_weekdays_are_linked_with_nothing():
    example = written_date(date(1987, 9, 3), "zh", "y年M月d日EEEE")
    assert text(example.source).endswith("星期四")
    assert max(s for s, _ in example.possible) == example.size - 4


@pytest.mark.parametrize("pattern", ["d MMMM", "d MMMM yy G", "d d MMMM y", ""])
def test_a_pattern_needs_year_month_and_day_and_nothing_unknown(pattern):
    with pytest.raises(ValueError, match=f"pattern is {re.escape(repr(pattern))}.*wanted y, M, d once each"):
        written_date(date(1987, 9, 3), "de", pattern)


def test_a_year_needs_four_figures():
    with pytest.raises(ValueError, match="day is 0987-09-03"):
        written_date(date(987, 9, 3), "de", "d. MMMM y")


def test_no_date_is_in_two_splits(task):
    train, validation, test = ({e.target for e in part} for part in (task.train, task.validation, task.test))
    assert not train & validation
    assert not train & test
    assert not validation & test


def test_validation_and_test_take_each_date_once(task):
    for part, count in ((task.validation, 500), (task.test, 2000)):
        assert len({example.target for example in part}) == len(part) == count
    assert task.longer == {}


def test_every_format_is_trained_and_tested(task):
    def shape(source):  # "3 mars 1987" -> "0 a 0": figures, a name, figures
        return re.sub(r"[^\W\d年月日星期]+", "a", re.sub(r"\d+", "0", text(source)))

    shapes = {shape(written_date(day, *form).source) for day in DAYS for form in FORMATS}
    for part in (task.train, task.test):
        assert {shape(example.source) for example in part} == shapes


def test_vocabularies_hold_every_character_and_do_not_depend_on_the_seed(task):
    for part in (task.train, task.validation, task.test):
        assert task.collate(part).source.max() < len(task.source_vocabulary)
    other = dates(train=10, validation=1, test=1, seed=9)
    assert other.source_vocabulary == task.source_vocabulary
    assert text(list(task.target_vocabulary)[3:]) == "0123456789-"


def test_a_seed_fixes_the_task():
    one, same, other = (dates(train=100, validation=10, test=10, seed=seed) for seed in (5, 5, 6))
    assert (one.train, one.validation, one.test) == (same.train, same.validation, same.test)
    assert one.train != other.train


def test_fewer_formats_and_years_may_be_chosen():
    task = dates(train=50, validation=5, test=5, years=(1987, 1987), formats=[("fr", "d MMMM y")])
    assert all(text(example.source).endswith(" 1987") for example in task.train)


@pytest.mark.parametrize("counts", [(10, 300, 65), (-1, 5, 5), (10, -1, 5)])
def test_some_dates_must_be_left_for_training(counts):
    with pytest.raises(ValueError, match="fewer than the 365 dates of 1987 to 1987"):
        dates(*counts, years=(1987, 1987))


def test_years_that_end_before_they_begin_have_no_dates():
    with pytest.raises(ValueError, match="fewer than the 0 dates"):
        dates(years=(1990, 1980))


def test_there_must_be_a_format():
    with pytest.raises(ValueError, match="formats is empty"):
        dates(train=10, formats=[])
