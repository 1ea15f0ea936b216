"""Which words have correct links, and which need their context: measured by kind of word."""

from types import SimpleNamespace

import pytest
import torch

from attnbook.data import number_list
from attnruns.experiments import links_by_kind, numbers


def test_it_trains_as_long_as_the_experiment_that_it_belongs_to():
    assert links_by_kind.EXPERIMENT.steps == {"attention": numbers.STEPS["attention"]}
    assert links_by_kind.EXPERIMENT.settings == numbers.EXPERIMENT.settings


def test_the_four_kinds():
    words = ("drei", "hundert", "zwei", "und", ",")
    assert [links_by_kind.kind(word) for word in words] == ["number words", "hundert", "number words", "und", "comma"]


def test_an_error_of_one_kind_counts_its_links_alone():
    example = number_list([300, 7])  # three hundred , seven -> drei hundert , sieben
    matrix = torch.eye(4)  # right for drei, hundert, the comma and sieben
    matrix[1] = torch.tensor([0.0, 0, 0, 1])  # and now wrong for hundert
    errors = {name: links_by_kind.pooled_error([example], [matrix], name) for name in ("number words", "hundert")}
    assert errors == {"number words": 0, "hundert": 1}
    assert links_by_kind.pooled_error([example], [matrix]) == pytest.approx(1 / 4)


def test_blurred_annotations_are_the_mean_of_the_real_ones(number_task, untrained):
    batch = number_task.collate([number_list([300, 7]), number_list([42])])
    state = untrained.start(batch.source, batch.lengths)
    after = links_by_kind.blurred(state).annotations
    for row, length in enumerate(batch.lengths):
        mean = state.annotations[row, :length].mean(0)
        assert torch.allclose(after[row], mean.expand_as(after[row]), atol=1e-6)


def test_nothing_changes_where_the_annotations_are_all_the_same():
    class Constant:
        """A model whose output depends on the mean of the annotations only."""

        def start(self, source, lengths):
            return SimpleStateOf(torch.ones(len(source), 3, 2), torch.ones(len(source), 3, dtype=torch.bool))

        def step(self, token, state):
            return state.annotations.mean(1), state, None

    batch = SimpleNamespace(source=torch.zeros(2, 3), lengths=None, target=torch.zeros(2, 4, dtype=torch.long))
    assert links_by_kind.changed(Constant(), batch).sum() == 0


class SimpleStateOf(SimpleNamespace):
    """Two tensors, as a state holds them."""

    def __init__(self, annotations, mask):
        super().__init__(annotations=annotations, mask=mask)

    def _replace(self, annotations):
        return SimpleStateOf(annotations, self.mask)


def test_a_word_that_reads_one_position_changes_with_the_mean_annotation():
    class First(SimpleNamespace):
        """A model that writes what stands at the first position."""

        def start(self, source, lengths):
            annotations = torch.tensor([[[2.0, 0], [0, 3], [0, 3]]])  # (B, Tk, D): the first differs from the mean
            return SimpleStateOf(annotations, torch.ones(1, 3, dtype=torch.bool))

        def step(self, token, state):
            return state.annotations[:, 0], state, None

    batch = SimpleNamespace(source=torch.zeros(1, 3), lengths=None, target=torch.zeros(1, 2, dtype=torch.long))
    assert links_by_kind.changed(First(), batch).tolist() == [[True, True]]


def test_kinds_that_do_not_occur_are_left_out(number_task, untrained):
    shares = links_by_kind.shares_by_kind(untrained, number_task, [number_list([7]), number_list([3, 4])])
    assert [*shares["links"]] == [*shares["changed"]] == ["number words", "comma"]
