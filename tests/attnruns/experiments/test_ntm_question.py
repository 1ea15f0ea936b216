"""Questions on a list: what is asked and answered, how the machine of chapter 13's file learns it and is tested."""

import pytest
import torch
from experiment_runs import checked_run

from attnbook.models import NTM
from attnbook.seeding import generator
from attnruns.experiments import ntm_file, ntm_question
from attnruns.results import load_result
from attnruns.shared.runner import Job


@pytest.fixture
def machine():
    torch.manual_seed(0)
    return NTM(ntm_file.build("13_ntm").config).eval()


def test_the_answers_are_what_followed_the_vector_that_comes_again():
    inputs, answers, at = ntm_question.questions(6, 5, generator(0), answers=2)
    assert inputs.shape == (5, 10, 11)
    assert answers.shape == (5, 2, 8)
    for one, wanted, number in zip(inputs, answers, at.tolist(), strict=True):
        vectors = one[1:7, :8]
        assert len({tuple(vector.tolist()) for vector in vectors}) == 6  # all different
        torch.testing.assert_close(one[7, :8], vectors[number])
        torch.testing.assert_close(wanted, vectors[number + 1 : number + 3])
    marks = inputs[0, :, 8:]  # end, start, next
    assert marks.nonzero().tolist() == [[0, 1], [7, 0], [8, 2], [9, 2]]


def test_each_vector_but_the_last_is_asked_for():
    at = ntm_question.questions(5, 200, generator(0)).at
    assert sorted(set(at.tolist())) == [0, 1, 2, 3]


def test_a_job_trains_the_file_and_then_the_questions(tmp_path, monkeypatch):
    monkeypatch.setattr(ntm_question, "LENGTHS", (5,))
    monkeypatch.setattr(ntm_question, "COUNT", 3)
    figures = checked_run(ntm_question, Job("13_ntm", 1, 2), tmp_path, "cpu", kept=True)
    assert figures["training"]["longest"] == 8
    assert list(figures["tests"]["5"]) == ["64", "128", "256"]
    assert set(figures["way"]["found"]) == {"own", "behind"}
    assert [len(figures["way"][name]) for name in ("goes_on", "wrong_bits", "without_search")] == [3, 3, 3]


def test_the_search_ends_with_the_weights_of_the_machine_itself(machine):
    asked = ntm_question.questions(5, 4, generator(1))
    of = ntm_question.search(machine, asked, rows=8)
    with torch.no_grad():
        _, weights = machine(asked.inputs, rows=8)
    torch.testing.assert_close(of.ends, weights[:, 6, 0])  # the question is step 6
    torch.testing.assert_close(of.written, weights[torch.arange(4), asked.at + 1, 1].argmax(dim=-1))
    for part in of[:4]:
        torch.testing.assert_close(part.sum(dim=-1), torch.ones(4))


def test_wrong_bits_are_counted_for_each_answer():
    answers = torch.tensor([[[1.0, 0.0], [1.0, 1.0]]])
    assert ntm_question.wrong_bits(2 * answers - 1, answers) == [0, 0]
    assert ntm_question.wrong_bits(torch.tensor([[[9.0, 9.0], [1.0, 1.0], [1.0, -1.0]]]), answers) == [1, 1]


def test_the_record_holds_the_machine_of_the_chapter_among_three():
    runs = load_result("ntm_question")["runs"]
    assert sorted(run["seed"] for run in runs) == [0, 1, 3]


def test_the_machine_of_the_chapter_is_kept_and_answers():
    inputs, answers, _ = ntm_question.questions(10, 20, generator(2))
    with torch.no_grad():
        logits, _ = ntm_question.trained("13_ntm", 3)(inputs, rows=64)
    assert ntm_question.wrong_bits(logits, answers)[0] < 0.5
