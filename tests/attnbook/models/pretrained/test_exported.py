"""A DINOv2 that an exporter has written gives in our blocks what onnxruntime computes. `made/make_onnx.py` says how."""

from pathlib import Path

import pytest
import torch

from attnbook.models.pretrained import WeightsError, load
from attnbook.models.pretrained.exported import exported_dinov2
from attnbook.models.pretrained.onnx import Graph, read_onnx
from attnbook.models.pretrained.safetensors import read_safetensors

MADE = Path(__file__).parent / "made"
FILE = MADE / "dinov2.onnx"


@pytest.fixture
def graph():
    return read_onnx(FILE)


def test_states_and_weights_are_those_of_onnxruntime():
    expected = read_safetensors(MADE / "dinov2.onnx.expected.safetensors")
    model = load(FILE).model
    states, seen = model.encode(expected["images"])
    torch.testing.assert_close(states, expected["states"], rtol=0, atol=2e-5)
    class_token = torch.stack([weights[:, :, 0] for weights in seen])  # (L, B, H, 1 + N)
    torch.testing.assert_close(class_token, expected["weights"], rtol=0, atol=2e-6)


def test_the_tensors_are_those_that_were_exported(graph):
    tensors, _ = exported_dinov2(graph)
    stored = read_safetensors(MADE / "dinov2" / "model.safetensors")
    assert stored.keys() - tensors.keys() == {"embeddings.mask_token"}
    for name, tensor in tensors.items():
        torch.testing.assert_close(tensor, stored[name], rtol=0, atol=0, msg=name)


def test_the_sizes_are_found_in_the_graph(graph):
    _, facts = exported_dinov2(graph)
    assert facts.pop("layer_norm_eps") == pytest.approx(1e-6)
    assert facts == {
        "model_type": "dinov2", "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "mlp_ratio": 2,
        "image_size": 16, "patch_size": 4, "num_channels": 3,
    }  # fmt: skip


def test_another_network_is_refused():
    some = {"conv1.weight": torch.zeros(1), "fc.weight": torch.zeros(1)}
    with pytest.raises(WeightsError, match=r"not those of a DINOv2 .* names them, but conv1.weight, fc.weight, …"):
        exported_dinov2(Graph(some, (), ()))
    with pytest.raises(WeightsError, match=r"not those of a DINOv2 .* names them, but none, …"):
        exported_dinov2(Graph({}, (), ()))


@pytest.mark.parametrize(
    "kind, message",
    [
        ("Sqrt", "the file does not say layer_norm_eps of its model"),
        ("Reshape", "the file does not say num_attention_heads of its model"),
        ("MatMul", "the file lacks tensors of the model, 12 of them: blocks.layers.0.feed_forward.narrow.weight"),
    ],
)
def test_a_graph_without_what_tells_a_part_is_refused(graph, monkeypatch, kind, message):
    less = graph._replace(nodes=tuple(node for node in graph.nodes if node.kind != kind))
    monkeypatch.setattr("attnbook.models.pretrained.files.read_onnx", lambda path: less)
    with pytest.raises(WeightsError, match=message):
        load(FILE)


def test_positions_that_the_graph_does_not_put_together_are_missed(graph):
    less = graph._replace(nodes=tuple(node for node in graph.nodes if node.kind != "Concat"))
    assert "embeddings.position_embeddings" not in exported_dinov2(less)[0]


def test_a_graph_that_leaves_the_size_of_its_images_open_is_refused(graph, monkeypatch):
    open_size = graph._replace(shape=(0, 3, 0, 0))
    monkeypatch.setattr("attnbook.models.pretrained.files.read_onnx", lambda path: open_size)
    with pytest.raises(WeightsError, match="the file does not say image_size of its model"):
        load(FILE)


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    cut = tmp_path / "cut.onnx"
    cut.write_bytes(FILE.read_bytes()[:-1000])
    with pytest.raises(WeightsError, match=r"cut\.onnx is no ONNX file that can be read here, or cut off: a field of"):
        load(cut)
