"""Where a long training's checkpoint lies."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from attnruns.shared.resume import checkpoint_of, digest_of
from attnruns.shared.runner import Job

JOB = Job("tsp10_lstm", 1, 7)


@dataclass(frozen=True)
class Recipe:
    kind: str
    sizes: dict = field(default_factory=dict)
    patience: int | None = None


def test_a_checkpoint_is_named_after_experiment_job_and_recipe():
    assert checkpoint_of("pointing", JOB, "abc12345") == Path("checkpoints/pointing_tsp10_lstm_1_7_abc12345.ckpt")
    assert checkpoint_of("pointing", JOB, "abc12345", ending="").name == "pointing_tsp10_lstm_1_7_abc12345"


def test_the_digest_has_eight_letters_and_changes_with_each_field():
    recipes = Recipe("a"), Recipe("b"), Recipe("a", {"layers": 2}), Recipe("a", patience=3)
    found = {digest_of(recipe) for recipe in recipes}
    assert len(found) == 4
    assert {len(digest) for digest in found} == {8}
    assert digest_of(recipes[0]) == digest_of(replace(recipes[0]))


def test_a_later_field_counts_only_where_it_is_used():
    @dataclass(frozen=True)
    class Before:
        kind: str
        sizes: dict = field(default_factory=dict)

    assert digest_of(Recipe("a"), later=["patience"]) == digest_of(Before("a")) != digest_of(Recipe("a"))
    assert digest_of(Recipe("a", patience=3), later=["patience"]) != digest_of(Before("a"))
