"""A larger length penalty: which captions are translated with which alpha, and what is kept of them."""

from types import SimpleNamespace

from attnbook.data.texts.translation import own_translation_task
from attnruns.experiments import translate_penalties
from attnruns.shared.runner import Job


def test_each_alpha_translates_the_same_captions(monkeypatch):
    own, test = own_translation_task(), translate_penalties.TEST
    references = {test: own.references["test"], "validation": own.references["validation"]}
    data = own._replace(tests={test: own.tests["test"]}, references=references)
    given = []

    def write(model, data, examples, width, alpha):
        given.append((model, len(examples), width, alpha))
        wanted = data.references["validation" if len(given) % 2 else test][: len(examples)]
        return [line if alpha > 1 else line.rsplit(" ", 1)[0] for line in wanted]  # a small alpha loses the last word

    monkeypatch.setattr(translate_penalties, "RECIPES", {"tiny": SimpleNamespace(data=lambda: data)})
    monkeypatch.setattr(translate_penalties, "trained", lambda name, seed: (name, seed))
    monkeypatch.setattr(translate_penalties, "write", write)
    figures = translate_penalties.run(Job("tiny", 0, 3)).figures
    assert figures["source_words"] == {test: [example.size for example in data.tests[test]]}
    found = figures["by_alpha"]
    assert given == [(("tiny", 0), 3, 5, alpha) for alpha in translate_penalties.ALPHAS for _ in range(2)]
    assert list(found) == ["0.6", "1.0", "1.5", "2.0"]
    assert all(len(of["bleu_counts"]) == 3 for of in found.values())
    assert found["2.0"]["validation"] == {"bleu": 100.0, "length_ratio": 1.0}
    assert found["0.6"]["validation"]["length_ratio"] < 1
    tokens, wanted, *_ = map(int, found["0.6"]["bleu_counts"][0].split())
    assert tokens < wanted


def test_it_runs_with_the_weights_that_come_with_the_book():
    assert translate_penalties.EXPERIMENT.stored_seeds() == [0]
