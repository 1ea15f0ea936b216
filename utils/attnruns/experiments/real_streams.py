"""What SmolLM2 writes when notes are exchanged in the residual stream, and without a copy (chapter 19).

Nothing is trained. All parts read the texts of :mod:`~attnruns.experiments.real_names`, ``steps`` invented names per
seed. ``stream`` exchanges what a head wrote at the name's last token for what it wrote at *Dr*, or at the token two
before, and lets all later parts react. ``controls`` replaces the other heads that ``real_names`` drew, stretched in the
same way, and says whether the name is still copied. ``alone`` takes the logit of the name's last token apart after the
second sentence without the first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from attnbook.measure.inside import attentions_of
from attnbook.seeding import generator
from attnruns.experiments import real_keys, real_names
from attnruns.experiments.real_model import Head, smollm2
from attnruns.experiments.real_names import Replaced
from attnruns.shared.parts import Parts, measured, steps_of
from attnruns.shared.runner import Experiment, Job, Outcome

CONTROL: Head = (1, 0)  # head 2.1
ALONE = "Later that evening she again greeted Dr. {0}"


@contextmanager
def exchanged(model, head: Head, a: int, b: int) -> Iterator[None]:
    """While this holds, a head adds at position ``a`` what it would add at ``b``, and the other way round."""
    attention = attentions_of(model)[head[0]]

    def exchange(_, given):
        joined = given[0].clone().unflatten(-1, (attention.heads, -1))
        joined[:, [a, b], head[1]] = joined[:, [b, a], head[1]]
        return (joined.flatten(-2),)

    with attention.project_output.register_forward_pre_hook(exchange):
        yield


@torch.no_grad()
def stream(job: Job) -> dict[str, Any]:
    """Of each name the likeliest token, by which head's notes were exchanged with those of which position."""
    pretrained = smollm2()
    names: dict[str, Any] = {}
    for name, case in real_names.cases(pretrained, job.steps, job.seed):
        ids = case.ids[0].tolist()
        names[name] = {"token": case.token, "all": int(pretrained.model(case.ids)[0][0, -1].argmax())}
        for kind, head in (("note", real_names.NOTES[0]), ("control", CONTROL)):
            for what, at in (("title", case.title), ("two before", case.first - 2)):
                with exchanged(pretrained.model, head, case.first, at):
                    logits = pretrained.model(case.ids)[0][0, -1]
                names[name][f"{kind}, {what}"] = {"other": ids[at], "writes": int(logits.argmax())}
    return {"names": names}


@torch.no_grad()
def controls(job: Job) -> dict[str, Any]:
    """Of each name and step, in the draws of ``real_names``: the logit with other heads, and whether it is copied."""
    pretrained, draw = smollm2(), generator(job.seed)
    means, width = real_names.usual_means(pretrained, job.seed), attentions_of(pretrained.model)[0].heads
    names: dict[str, Any] = {}
    for name, case in real_names.cases(pretrained, job.steps, job.seed):
        text = Replaced(pretrained.model, means, case.ids)
        drawn = {step: real_names.others_of(step, width, draw) for step in real_names.STEPS}
        names[name] = {}
        for step, at in (("notes", case.first), ("finds", case.ids.shape[1] - 1)):
            found = [text.stretched(of, at, real_names.heads_of(step, width)) for of in drawn[step]]
            names[name][step] = {
                "stretched": [real_names.above_mean(of, case.token) for of in found],
                "copied": [int(of.argmax() == case.token) for of in found],
            }
    return {"names": names}


@torch.no_grad()
def alone(job: Job) -> dict[str, Any]:
    """The means over the names of what the parts add to the logit, if only the second sentence is read."""
    pretrained = smollm2()
    found = []
    for name, case in real_names.cases(pretrained, job.steps, job.seed):
        *ids, token = pretrained.tokenizer.encode(ALONE.format(name)).ids
        if token != case.token:
            raise ValueError(f"alone, {name!r} ends with the token {token} and not with {case.token}")
        found.append(real_keys.written(Replaced(pretrained.model, [], torch.tensor([ids])), token, []))
    return {
        field: _mean([torch.as_tensor(getattr(of, field)) for of in found])
        for field in ("heads", "feed_forward", "word", "whole")
    }


def _mean(of: list[torch.Tensor]) -> Any:
    return torch.stack(of).mean(dim=0).double().mul(1000).round().div(1000).tolist()


PARTS: Parts = {"stream": (stream, 17), "controls": (controls, 17), "alone": (alone, 17)}


def run(job: Job) -> Outcome:
    """Measure one part."""
    return measured(PARTS, job)


EXPERIMENT = Experiment(
    "real_streams",
    steps_of(PARTS),
    run,
    {
        "weights": "SmolLM2-135M-Instruct in four bits", "notes": real_names.NOTES, "control": CONTROL,
        "finds": real_names.FINDS, "frame": real_names.FRAME, "alone": ALONE,
    },
    on_cpu=True,
)  # fmt: skip
