"""Notebooks on the pretended card; ``ATTNBOOK_DEVICE=card pytest --nbval-lax chapters solutions`` runs all there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm_kernels
from jupyter_client.provisioning import local_provisioner
from nbformat import v4

from coursekit.execute import run_notebook

ROOT = Path(__file__).parents[2]
ON_THE_CARD = """\
import torch
from attnbook.device import available_devices, best_device
x = torch.ones(2, device=best_device(), requires_grad=True)
x.sum().backward()
print(best_device(), x.grad.device, [device.type for device in available_devices()])
"""
# The quickest chapter and lab that run networks, and whose answers are tried there; all of them run before a release.
EACH_TIME = ["chapters/18_one_corpus.ipynb", "solutions/lab16_sagan/lab16_sagan.ipynb"]


@pytest.fixture(autouse=True)
def kernels_are_forks():
    if local_provisioner.launch_kernel is not warm_kernels.launch:
        pytest.skip("kernels are no forks on this system, or were not to be")


@pytest.mark.slow
def test_a_kernel_that_is_to_use_the_card_has_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNBOOK_DEVICE", "card")
    run = run_notebook(v4.new_notebook(cells=[v4.new_code_cell(ON_THE_CARD, id="one")]), tmp_path)
    assert run.failures == {}
    assert run.notebook.cells[0].outputs[0].text == "card card:0 ['cpu']\n"


@pytest.mark.slow
def test_a_chapter_and_a_lab_run_on_the_card():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval-lax",
        "--nbval-cell-timeout=300",
        "-p",
        "no:cacheprovider",
    ]
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    settings |= {"ATTNBOOK_DEVICE": "card"}
    done = subprocess.run([*command, *EACH_TIME], cwd=ROOT, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
