"""The command that lets pretrained weights write; `models/pretrained/` has the tests of what it calls."""

from pathlib import Path

from attnbook import generate

MADE = Path(__file__).parent / "models" / "pretrained" / "made"


def test_what_cannot_be_read_is_one_sentence_and_status_two(tmp_path, capsys):
    assert generate.main([str(tmp_path / "no.gguf"), "Once"]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'no.gguf'} is neither a file nor a folder\n"


def test_a_model_without_a_tokenizer_is_said(capsys):
    assert generate.main([str(MADE / "llama"), "Once"]) == 2
    assert "the files hold no tokenizer" in capsys.readouterr().err
