"""Where the card comes from, and what is said where it cannot be had."""

import os
import re
import subprocess
import sys

import pretended_card
import pytest
import torch
from pretended_card import build

from attnbook.device import available_devices

PUT_IN = "import pretended_card, torch; pretended_card.put_in(); print(torch.ones(2, device='card').sum().item())"


@pytest.fixture
def reasons():
    """``why_not`` without the memory of what it said before."""
    return pretended_card.why_not.__wrapped__


@pytest.mark.skipif(not os.environ.get("CI") or not sys.platform.startswith("linux"), reason="of CI on Linux")
def test_ci_never_goes_without_the_card(reasons):
    assert reasons() == ""


@pytest.mark.parametrize(
    "module, name, value, reason",
    [
        (sys, "platform", "darwin", "tried on Linux only"),
        (torch, "__version__", "2.14.0", r"made for torch 2\.13\.\*, and this is 2\.14\.0"),
        (build, "COMPILER", "no-such-compiler", r"needs a C\+\+ compiler, and there is no no-such-compiler"),
    ],
)
def test_a_machine_that_cannot_have_it_is_told_why(reasons, monkeypatch, module, name, value, reason):
    monkeypatch.setattr(module, name, value)
    assert re.search(reason, reasons())


def test_what_the_compiler_says_is_the_reason(reasons, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "OPTIONS", ["-std=c++98765"])
    assert "cannot compile the pretended card" in reasons()
    assert "c++98765" in reasons()
    assert not list(tmp_path.rglob("*.so"))


def test_it_is_none_of_the_devices_that_a_reader_is_offered():
    assert "card" not in {device.type for device in available_devices()}


@pytest.mark.slow
def test_two_processes_at_once_compile_it_once(tmp_path):
    """A slow compiler stands for the true one, and says how often it was called."""
    counter, compiler = tmp_path / "calls", tmp_path / "compiler"
    built = build.library()
    out = 'for word; do [ "$last" = -o ] && out=$word; last=$word; done'
    compiler.write_text(f'#!/bin/sh\necho called >> "{counter}"\nsleep 1\n{out}\ncp "{built}" "$out"\n')
    compiler.chmod(0o755)
    helpers = os.path.dirname(os.path.dirname(pretended_card.__file__))
    settings = {**os.environ, "CXX": str(compiler), "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": helpers}
    started = [subprocess.Popen([sys.executable, "-c", PUT_IN], env=settings, stdout=subprocess.PIPE) for _ in "ab"]
    assert [process.communicate()[0].strip() for process in started] == [b"2.0", b"2.0"]
    assert counter.read_text().splitlines() == ["called"]
