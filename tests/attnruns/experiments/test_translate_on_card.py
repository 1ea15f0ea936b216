"""The translators that were trained on a graphics card: the same trainings, without texts and weights."""

from attnruns.experiments import translate, translate_on_card
from attnruns.shared.runner import Job, Outcome, run_job


def test_it_trains_what_the_experiment_on_the_processor_trains_for_as_many_steps():
    assert set(translate_on_card.MODELS) == {f"{kind}_de_en" for kind in translate.STEPS_PER_KIND}
    assert translate_on_card.EXPERIMENT.steps.items() <= translate.STEPS.items()


def test_a_run_keeps_the_figures_and_neither_texts_nor_weights(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNBOOK_DEVICE", "cpu")
    seen = []
    figures = {"seconds": 1.0, "scores": {"test": 1}, "samples": ["a"], "alignments": [], "losses": [2.0]}
    monkeypatch.setattr(translate, "run", lambda job: seen.append(job) or Outcome(dict(figures), model="weights"))
    job = Job("tiny_de_en", 0, 6)
    found = run_job(translate_on_card.EXPERIMENT, tmp_path, job)
    assert seen == [job]
    assert found == {**job._asdict(), "device": "cpu", "card": None, "seconds": 1.0, "scores": {"test": 1}}
    assert not list(tmp_path.iterdir())
