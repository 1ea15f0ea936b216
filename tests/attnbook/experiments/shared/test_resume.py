"""Where a long training's checkpoint lies."""

from attnbook.experiments.shared import resume
from attnbook.experiments.shared.runner import Job


def test_a_checkpoint_is_named_after_the_job_and_the_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(resume.record, "commit", lambda: "abc1234")
    monkeypatch.setattr(resume, "FOLDER", tmp_path / "checkpoints")
    file = resume.checkpoint_of("pointing_paper", Job("tsp10_lstm", 1, 7))
    assert file == tmp_path / "checkpoints" / "pointing_paper_tsp10_lstm_1_7_abc1234.ckpt"
    assert file.parent.is_dir()


def test_checkpoints_lie_beside_what_is_tried_out():
    assert resume.FOLDER.parts == ("scratch", "checkpoints")
