"""Experiments of several parts measure the one that is named."""

from attnruns.shared.parts import measured, steps_of
from attnruns.shared.runner import Job

PARTS = {"doubled": (lambda job: {"found": 2 * job.steps}, 4), "seeded": (lambda job: {"found": job.seed}, 1)}


def test_each_part_has_its_steps():
    assert steps_of(PARTS) == {"doubled": 4, "seeded": 1}


def test_the_part_of_the_jobs_name_is_measured_on_the_processor():
    figures = measured(PARTS, Job("doubled", 3, 5)).figures
    assert list(figures) == ["device", "seconds", "found"]
    assert (figures["device"], figures["found"]) == ("cpu", 10)
    assert 0 <= figures["seconds"] < 1
    assert measured(PARTS, Job("seeded", 3, 5)).figures["found"] == 3
