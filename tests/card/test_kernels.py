"""Notebooks on the pretended card; ``ATTNBOOK_DEVICE=card pytest --nbval-lax chapters solutions`` runs all there."""

from pathlib import Path

import pytest
import warm_kernels
from jupyter_client.provisioning import local_provisioner
from nbformat import v4

from coursekit.execute import run_notebook
from coursekit.notebooks import code_cells, has_tag, read

ROOT = Path(__file__).parents[2]
ON_THE_CARD = """\
import torch
from attnbook.device import available_devices, best_device
x = torch.ones(2, device=best_device(), requires_grad=True)
x.sum().backward()
print(best_device(), x.grad.device, [device.type for device in available_devices()])
"""
# The quickest chapter and lab that run networks, and whose answers are tried there; all of them run before a release.
EACH_TIME = ["chapters/02_bahdanau_evidence.ipynb", "solutions/lab10_decoding/lab10_decoding.ipynb"]


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
@pytest.mark.parametrize("path", EACH_TIME)
def test_a_chapter_and_a_lab_run_on_the_card(path, monkeypatch):
    """As nbval runs them: no cell fails, and where a cell is tagged for it, it says what is stored."""
    monkeypatch.setenv("ATTNBOOK_DEVICE", "card")
    stored = read(ROOT / path)
    run = run_notebook(stored, (ROOT / path).parent)
    assert run.failures == {}
    for before, now in zip(code_cells(stored), code_cells(run.notebook), strict=True):
        if has_tag(before, "nbval-check-output"):
            assert printed(now) == printed(before)


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")
