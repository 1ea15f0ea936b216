"""Packs of weights: read without torch, what torch reads; rounded within half a step; and strange files are refused."""

import base64
import json
import pickle
import re
import zipfile

import pytest
import torch
from live_pages import WEIGHTS, live_weights


def saved(folder, **tensors):
    torch.save({"model": tensors}, folder / "model.pt")
    return folder / "model.pt"


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.int64])
def test_it_reads_what_torch_wrote(dtype, tmp_path):
    tensor = torch.arange(24).view(2, 3, 4).to(dtype)
    found = live_weights.read_weights(saved(tmp_path, a=tensor, b=tensor[0, 0]))
    assert found["a"] == (2, 12, tuple(tensor.flatten().tolist()))
    assert found["b"] == (4, 1, tuple(tensor[0, 0].tolist()))


def test_real_weights_are_torchs():
    path = WEIGHTS / "numbers_attention_0.pt"
    wanted = torch.load(path, weights_only=True)["model"]
    found = live_weights.read_weights(path)
    assert found.keys() == wanted.keys()
    for name, matrix in found.items():
        assert torch.equal(torch.tensor(matrix.numbers), wanted[name].flatten().float()), name


def test_a_tensor_that_is_no_whole_block_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=re.escape("model.pt has a tensor of shape (3, 2) with strides (1, 3)")):
        live_weights.read_weights(saved(tmp_path, a=torch.arange(6.0).view(2, 3).t()))


def test_a_pickle_that_asks_for_more_than_tensors_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.pt", "w") as archive:
        archive.writestr("bad/data.pkl", pickle.dumps(json.loads))
    with pytest.raises(pickle.UnpicklingError, match=r"bad\.pt asks for json\.loads"):
        live_weights.read_weights(tmp_path / "bad.pt")


def test_rounding_errs_by_half_a_step_at_most():
    rows = torch.randn(5, 40, generator=torch.Generator().manual_seed(0))
    scales, whole = live_weights.rounded(live_weights.Matrix(5, 40, rows.flatten().tolist()))
    scale = torch.frombuffer(bytearray(scales), dtype=torch.float16).float()[:, None]
    back = torch.frombuffer(bytearray(whole), dtype=torch.int8).view(5, 40) * scale
    assert ((back - rows).abs() <= 0.51 * scale + 1e-3 * rows.abs()).all()


def test_a_row_of_zeros_stays_zeros():
    scales, whole = live_weights.rounded(live_weights.Matrix(1, 3, (0.0, 0.0, 0.0)))
    assert torch.frombuffer(bytearray(scales), dtype=torch.float16).item() == 1
    assert whole == bytes(3)


def test_a_pack_says_where_each_tensor_begins_and_leaves_out_what_the_page_does_not_need():
    weights = {
        "a": live_weights.Matrix(1, 3, (1, 2, 3)),
        "b": live_weights.Matrix(2, 1, (0.5, 1)),
        "tied": live_weights.Matrix(1, 1, (1,)),
    }
    tensors, data = live_weights.packed(weights, ["tied"])
    assert tensors == [
        ["a", 1, 3, "byte", 0],
        ["b", 2, 1, "half", 6],
    ]  # two bytes of scale, three of numbers, one to be even
    assert torch.frombuffer(bytearray(data[6:]), dtype=torch.float16).tolist() == [0.5, 1]


@pytest.mark.parametrize("name", sorted(live_weights.PACKS))
def test_each_pack_is_a_script_that_hands_it_over(name):
    assert all(path.exists() for path in live_weights.sources(name, WEIGHTS))
    if name in ("translator", "hull", "tour"):
        return  # seconds each; the tests of the models load them
    text = live_weights.script(name, WEIGHTS)
    found = json.loads(re.fullmatch(rf'LIVE\.weights\("{name}", (.*)\);\n', text)[1])
    assert base64.b64decode(found["data"]) or found.keys() - {"data", "tensors"}
