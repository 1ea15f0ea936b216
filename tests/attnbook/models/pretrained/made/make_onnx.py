"""Makes the ONNX file beside this one, and what onnxruntime computes with it and with the published DINOv2.

``python make_onnx.py PUBLISHED.onnx``. It needs onnx, onnxruntime and transformers, which the book does not; so what it
makes is stored. ``dinov2.onnx`` is the tiny model of ``make.py``, exported for images of another size than it was made
for. NAME.expected.safetensors hold last states and the class token's weights of attention; of the published model every
16th state, every third feature and every eighth weight. Made with transformers 4.51.3, torch 2.13.0, onnx 1.23.2 and
onnxruntime 1.32.0, without its optimisations of a graph.
"""

import sys
from pathlib import Path

import onnx
import onnxruntime
import torch
from safetensors.torch import save_file
from transformers import Dinov2Model

HERE = Path(__file__).parent


class Exported(torch.nn.Module):
    """A DINOv2 as a part of a larger network, as published ones are."""

    def __init__(self):
        super().__init__()
        self.backbone = Dinov2Model.from_pretrained(HERE / "dinov2", attn_implementation="eager").eval()
        self.decoder = torch.nn.Linear(32, 2)

    def forward(self, images):
        return self.decoder(self.backbone(images).last_hidden_state)


def computed(path: Path, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Last states ``(B, 1 + N, D)``, and the class token's weights of all layers ``(L, B, H, 1 + N)``."""
    model = onnx.load(path)
    last = [
        node.output[0] for node in model.graph.node if node.op_type == "Add" and "backbone.layernorm.bias" in node.input
    ]
    names = [*last, *(node.output[0] for node in model.graph.node if node.op_type == "Softmax")]
    for name in names:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    states, *weights = session.run(names, {session.get_inputs()[0].name: images.numpy()})
    return torch.tensor(states), torch.stack([torch.tensor(one)[:, :, 0] for one in weights])


def waves(side: int) -> torch.Tensor:
    """Two images ``(2, 3, S, S)`` of waves, which any machine computes alike."""
    x = torch.arange(side) / side
    phase = torch.stack([7 * x[:, None] + 3 * x, 20 * x[:, None] * x])  # (2, S, S)
    return torch.stack([torch.sin((channel + 2) * phase) for channel in range(3)], dim=1)


torch.manual_seed(0)
torch.onnx.export(
    Exported(), waves(16), HERE / "dinov2.onnx", dynamo=False, opset_version=14, input_names=["images"],
    output_names=["classes"], dynamic_axes={"images": {0: "batch"}},
)  # fmt: skip
states, weights = computed(HERE / "dinov2.onnx", waves(16))
save_file({"images": waves(16), "states": states, "weights": weights}, HERE / "dinov2.onnx.expected.safetensors")
states, weights = computed(Path(sys.argv[1]), waves(224))
expected = {"states": states[:, ::16, ::3].contiguous(), "weights": weights[..., ::8].contiguous()}
save_file(expected, HERE / "dinov2_small.expected.safetensors")
