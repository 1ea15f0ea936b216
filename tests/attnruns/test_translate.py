"""The translator prints a translation with its attention map; a tiny one, trained here, stands for the real one."""

import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attnbook.data import shift_right
from attnbook.data.texts.byte_pairs import BytePairs
from attnbook.models import AttentionSeq2Seq
from attnruns import translate as module
from attnruns.experiments import translate as experiment
from attnruns.shared.runner import Job, run_job
from attnruns.translate import Translation, attended, drawn, main, pieces_file, read_pieces, saved_pieces, translate

ROOT = Path(__file__).parents[2]
SENTENCE = "Ein Hund läuft im Schnee."


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of results in which the tiny translator lies, trained for 200 steps."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("ATTNBOOK_DEVICE", "cpu")
        patch.setitem(experiment.RECIPES, "tiny_de_en", replace(experiment.RECIPES["tiny_de_en"], kept=1))
        run_job(experiment.EXPERIMENT, folder, Job("tiny_de_en", 0, 200))
    return folder


@pytest.fixture
def trained(results, monkeypatch):
    """The tiny translator is where results are looked for."""
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(results))
    module.translator.cache_clear()
    yield
    module.translator.cache_clear()


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """The folder of results is empty."""
    monkeypatch.setenv("ATTNBOOK_RESULTS", str(tmp_path))
    module.translator.cache_clear()
    return tmp_path


@pytest.fixture
def shipped(monkeypatch):
    """The translator that comes with the book is read, whatever folder of results this environment names."""
    monkeypatch.delenv("ATTNBOOK_RESULTS", raising=False)
    module.translator.cache_clear()
    yield
    module.translator.cache_clear()


# ---- with a trained model


@pytest.mark.slow
def test_a_sentence_is_translated_and_the_map_is_printed_below(trained, capsys):
    assert main([SENTENCE, "--model", "tiny"]) == 0
    said = capsys.readouterr()
    text, head, *rows = said.out.splitlines()
    assert text == "A dog runs in the snow."
    assert head.split() == ["▁Ein", "▁Hund", "▁läuft", "▁im", "▁Schnee", "."]
    assert [row.split()[0] for row in rows] == ["▁A", "▁dog", "▁runs", "▁in", "▁the", "▁snow", "."]
    assert len({len(row) for row in (head, *rows)}) == 1
    assert said.err == ""


@pytest.mark.slow
def test_a_picture_is_drawn_in_place_of_the_map(trained, capsys, tmp_path):
    assert main([SENTENCE, "--model", "tiny", "--picture", str(tmp_path / "map.svg")]) == 0
    assert capsys.readouterr().out == "A dog runs in the snow.\n"
    assert "<svg" in (tmp_path / "map.svg").read_text()


@pytest.mark.slow
def test_the_weights_are_those_of_the_pieces(trained):
    found = translate(f"  {SENTENCE.replace(' ', '   ')}\n", name="tiny")
    assert found.text == "A dog runs in the snow."
    assert found.weights.shape == (len(found.target), len(found.source))
    torch.testing.assert_close(found.weights.sum(dim=1), torch.ones(len(found.target)))
    assert "".join(found.source).replace("▁", " ").strip() == SENTENCE


@pytest.mark.slow
def test_letters_never_seen_do_no_harm(trained, capsys):
    assert main(["Ωx", "--model", "tiny"]) == 0
    assert "\N{REPLACEMENT CHARACTER}" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["a"], "no results/weights/translate_transformer_de_en_0.pt; there is: translate_tiny_de_en_0.pt\n"),
        (["a", "--model", "huge"], "no model is called 'huge_de_en'; there is: "),
        (["a", "--model", "tiny", "--picture", "map.of_no_kind"], "Format 'of_no_kind' is not supported"),
        (["a", "--model", "tiny", "--picture", "nowhere/map.png"], "[Errno 2] No such file or directory"),
    ],
)
def test_what_cannot_be_done_with_it_is_one_sentence_and_status_2(arguments, sentence, trained, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(sentence)
    assert said.err.count("\n") == 1


# ---- without one


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ([" "], "sentence is empty; give one such as 'Ein Hund läuft durch den Schnee.'\n"),
        (["a", "--pair", "de-fr"], "pair must be one of de-en, en-de, got 'de-fr'\n"),
        (
            ["a", "--pair", "en-de"],
            "no results/weights/translate_pieces_en_de.json: "
            "run python -m attnbook.experiments translate --pair en-de\n",
        ),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_status_2(arguments, sentence, nothing, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", sentence)


def test_pieces_are_found_as_they_were_written(nothing):
    pairs = BytePairs("aä", [("a", "ä")]), BytePairs("bc", [])
    (nothing / "weights").mkdir()
    (nothing / pieces_file("en-de")).write_text(saved_pieces(*pairs), encoding="utf-8")
    assert [found.pieces for found in read_pieces("en-de")] == [one.pieces for one in pairs]
    assert "ä" in saved_pieces(*pairs)
    assert json.loads(saved_pieces(*pairs)).keys() == {"source", "target"}


def test_each_weight_stands_below_its_piece_darker_for_more():
    weights = torch.tensor([[0.05, 0.95], [0.5, 0.5], [1.0, 0.0]])
    lines = drawn(Translation("x yz", ["▁aa", "▁b"], ["▁x", "▁yz", "."], weights)).splitlines()
    assert lines == ["    ▁aa ▁b", " ▁x     ██", "▁yz ▒▒▒ ▒▒", "  . ███   "]


def test_an_empty_translation_has_an_empty_map():
    assert drawn(Translation("", ["▁a"], [], torch.zeros(0, 1))) == " ▁a"


def test_what_was_attended_to_is_what_teacher_forcing_says():
    model = AttentionSeq2Seq(9, 9, embedding=4, hidden=6).eval()
    source, lengths, tokens = torch.tensor([[3, 4, 5, 6]]), torch.tensor([4]), torch.tensor([[7, 8, 2]])
    weights = attended(model, source, lengths, tokens, 2)
    assert weights.shape == (2, 4)
    assert not weights.requires_grad
    assert torch.equal(weights, model(source, lengths, shift_right(tokens))[1][0, :2])


def test_help_says_what_it_can_translate(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert "captions of photographs" in re.sub(r"\s+", " ", capsys.readouterr().out)


def test_the_translator_that_comes_with_the_book_translates_the_readmes_sentence(shipped):
    assert translate("Ein Hund läuft durch den Schnee.").text == "A dog runs through the snow."


def test_it_writes_what_its_record_says(shipped):
    runs = json.loads((ROOT / "results/translate.json").read_text(encoding="utf-8"))["runs"]
    (run,) = [run for run in runs if (run["model"], run["seed"]) == ("transformer_de_en", 0)]
    same = [translate(sample["source"]).text == sample["translation"] for sample in run["samples"][:6]]
    assert sum(same) >= 5  # a translation may turn on a rounding


def test_the_readme_says_what_the_record_says():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    runs = json.loads((ROOT / "results/translate.json").read_text(encoding="utf-8"))["runs"]
    of = {run["model"]: run for run in runs if run["seed"] == 0 and "test_2016_flickr" in run["scores"]}
    transformer, bahdanau = of["transformer_de_en"], of["bahdanau_de_en"]
    scores = {name: run["scores"]["test_2016_flickr"]["beam"] for name, run in of.items()}
    assert f"{transformer['parameters'] / 1e6:.1f} million parameters" in text
    assert f"in {transformer['seconds'] / 60:.0f} minutes on one CPU core" in text
    lower = f"{scores['transformer_de_en']['bleu_lower']:.1f} in lower case"
    others = {
        name: " and ".join(f"{run['scores']['test_2016_flickr']['beam']['bleu']:.1f}" for run in runs
                           if run["model"] == name and run["seed"] > 0)
        for name in ("transformer_de_en", "bahdanau_de_en")
    }  # fmt: skip
    assert (
        f"{scores['transformer_de_en']['bleu']:.1f} BLEU on the 2016 test set (sacreBLEU, cased, beam of 5; {lower}; "
        f"other seeds {others['transformer_de_en']})" in text
    )
    score, minutes = scores["bahdanau_de_en"]["bleu"], bahdanau["seconds"] / 60
    assert f"Bahdanau's model scores {score:.1f} ({others['bahdanau_de_en']}) after {minutes:.0f} minutes" in text


def test_a_sentence_is_translated_alike_in_both_spellings_of_its_accents(shipped):
    decomposed = unicodedata.normalize("NFD", SENTENCE)
    assert decomposed != SENTENCE
    assert translate(decomposed)[:3] == translate(SENTENCE)[:3]
