"""The page *Are you ready?*: its examples print what stands below them, and its ten questions have answers."""

import math
import re

import pytest
import torch


@pytest.fixture(scope="module")
def page(root):
    return (root / "book/ready.md").read_text(encoding="utf-8")


def test_each_example_prints_what_stands_below_it(page, capsys):
    blocks = re.findall(r"```(python|text)\n(.*?)```", page, flags=re.DOTALL)
    assert [kind for kind, _ in blocks] == ["python", "text"] * (len(blocks) // 2)
    names, printed = {}, []
    for kind, text in blocks:
        if kind == "python":
            exec(text, names)
            printed.append(capsys.readouterr().out)
    assert printed == [text for kind, text in blocks if kind == "text"]
    assert len(printed) == 7


def test_there_are_ten_questions_and_each_has_an_answer(page):
    questions = re.findall(
        r"^\*\*(\d+)\. [^*]+\*\* .*?\n\n:::\{admonition\} Answer\n:class: dropdown\n", page, re.M | re.S
    )
    assert questions == [str(number) for number in range(1, 11)]
    assert page.count("{admonition} Answer") == 10


def test_the_answers_that_a_tensor_can_check_are_right():
    assert (torch.ones(2, 3, 4) @ torch.ones(4, 5)).shape == (2, 3, 5)
    assert (torch.ones(2, 1, 4) + torch.ones(3, 4)).shape == (2, 3, 4)
    scores = torch.tensor([0.0, math.log(3)])
    assert scores.softmax(dim=-1).tolist() == pytest.approx([0.25, 0.75])
    assert (scores + 5).softmax(dim=-1).tolist() == pytest.approx([0.25, 0.75])
    vectors, other = torch.tensor([[3.0, 0], [1, 1]]), torch.tensor([1.0, 2])
    assert (vectors @ other).tolist() == [3, 3]
    assert torch.cosine_similarity(vectors, other[None]).tolist() == pytest.approx([0.447, 0.949], abs=5e-4)
