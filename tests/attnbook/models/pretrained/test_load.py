"""Weights that `transformers` has written give in our blocks what they give there. `made/make.py` says how."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from written_weights import gguf_bytes, write_safetensors

from attnbook.decoding import greedy
from attnbook.models.bert import MaskedLanguageModel
from attnbook.models.pretrained import WeightsError, load
from attnbook.models.pretrained.safetensors import read_safetensors

MADE = Path(__file__).parent / "made"
WRITERS = ("llama", "qwen2", "gpt2")


@pytest.fixture(scope="module", params=(*WRITERS, "bert", "vit", "dinov2"))
def pair(request):
    return load(MADE / request.param), read_safetensors(MADE / f"{request.param}.expected.safetensors")


@pytest.fixture
def changed(tmp_path):
    """A copy of a stored model, with a changed configuration or changed tensors."""

    def change(name, facts=None, tensors=lambda all_of_them: all_of_them):
        folder = shutil.copytree(MADE / name, tmp_path / name)
        config = json.loads((folder / "config.json").read_text("utf-8")) | (facts or {})
        (folder / "config.json").write_text(json.dumps(config), "utf-8")
        found = {key: tensor.clone() for key, tensor in read_safetensors(folder / "model.safetensors").items()}
        write_safetensors(folder / "model.safetensors", tensors(found))
        return folder

    return change


def test_a_model_computes_what_it_computes_in_transformers(pair):
    loaded, expected = pair
    given = [expected["images" if "images" in expected else "words"]]
    if isinstance(loaded.model, MaskedLanguageModel):
        given.append(torch.full((len(given[0]),), given[0].shape[1]))
    if "states" in expected:
        found, wanted = loaded.model.encode(*given)[0], expected["states"]
    else:
        found, wanted = loaded.model(*given)[0], expected["logits"]
    torch.testing.assert_close(found, wanted, rtol=0, atol=2e-5)
    torch.testing.assert_close(loaded.model.maps(*given)[0], expected["weights"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", WRITERS)
def test_it_writes_the_same_text_with_its_cache(name):
    expected = read_safetensors(MADE / f"{name}.expected.safetensors")
    written = greedy(load(MADE / name).model, prompt=expected["words"], max_length=12, eos=-1).tokens
    assert written.tolist() == expected["written"].tolist()


@pytest.mark.parametrize("name, tied", [("llama", False), ("qwen2", True), ("gpt2", True)])
def test_what_is_tied_is_one_tensor(name, tied):
    model = load(MADE / name).model
    assert (model.output.weight is model.embed.words.weight) is tied
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_bfloat16_is_near_and_half_as_large():
    whole, half = (load(MADE / "llama", dtype).model for dtype in (torch.float32, torch.bfloat16))
    words = torch.arange(3, 12)[None]
    assert {parameter.dtype for parameter in half.parameters()} == {torch.bfloat16}
    close = torch.cosine_similarity(half(words)[0].float(), whole(words)[0], dim=-1)
    assert close.min() > 0.999


def test_the_file_itself_may_be_named():
    assert load(MADE / "gpt2" / "model.safetensors").ends == (2,)


@pytest.mark.parametrize(
    "name, facts, message",
    [
        (
            "llama",
            {"model_type": "mamba"},
            "of the kind 'mamba'; the book's blocks can be llama, qwen2, gpt2, bert, vit, dinov2",
        ),
        ("llama", {"hidden_act": "gelu"}, "the model has hidden_act = 'gelu', and the book's blocks have 'silu' only"),
        ("llama", {"rope_parameters": {"rope_type": "yarn"}}, "the model has rope_scaling = 'yarn'"),
        (
            "llama",
            {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}},
            "the model has rope_scaling = {'rope_type': 'llama3'",
        ),
        ("llama", {"head_dim": 16}, "the model has head_dim = 16, and the book's blocks have 8 only"),
        ("llama", {"hidden_size": None}, "the file says nothing usable of its model: .*hidden_size"),
        ("llama", {"num_hidden_layers": 3}, "the file lacks tensors of the model, 9 of them: blocks.layers.2"),
        (
            "llama",
            {"num_hidden_layers": 1},
            "the file has tensors that are no part of the model, 9 of them: blocks.layers.1",
        ),
        ("gpt2", {"n_inner": 48}, r"feed_forward.widen.bias is \(128,\) in the file, and \(48,\) in the model"),
        ("gpt2", {"activation_function": "relu"}, "the model has activation_function = 'relu'"),
        ("vit", {"qkv_bias": False}, "the model has qkv_bias = False, and the book's blocks have True only"),
        ("vit", {"image_size": 16}, r"add_positions.vectors is \(10, 32\) in the file, and \(17, 32\) in the model"),
        ("dinov2", {"use_swiglu_ffn": True}, "the model has use_swiglu_ffn = True"),
        ("bert", {"position_embedding_type": "relative_key"}, "the model has position_embedding_type = 'relative_key'"),
    ],
)
def test_what_our_blocks_are_not_is_refused(changed, name, facts, message):
    with pytest.raises(WeightsError, match=message):
        load(changed(name, facts))


def test_a_tensor_that_nobody_knows_is_named(changed):
    folder = changed("gpt2", tensors=lambda found: found | {"h.0.attn.sinks": torch.zeros(4)})
    with pytest.raises(WeightsError, match=r"the file has tensors that are no part of the model, 1 of them: .*sinks"):
        load(folder)


def test_a_model_without_a_head_returns_the_vector_of_its_class_token():
    images = read_safetensors(MADE / "dinov2.expected.safetensors")["images"]
    model = load(MADE / "dinov2").model
    torch.testing.assert_close(model(images)[0], model.encode(images)[0][:, 0], rtol=0, atol=0)


@pytest.mark.parametrize(
    "left_out, message",
    [
        ("embeddings.cls_token", "the file does not say embeddings.cls_token of its model"),
        ("encoder.layer.1.layer_scale2.lambda1", "the file does not say encoder.layer.1.layer_scale2.lambda1"),
        ("encoder.layer.1.norm2.bias", "the file lacks tensors of the model, 1 of them: .*norm_feed_forward.bias"),
    ],
)
def test_a_file_that_lacks_a_part_of_a_vision_transformer_is_refused(changed, left_out, message):
    folder = changed("dinov2", tensors=lambda found: {name: one for name, one in found.items() if name != left_out})
    with pytest.raises(WeightsError, match=message):
        load(folder)


def test_a_file_without_word_vectors_is_refused(changed):
    folder = changed("bert", tensors=lambda found: {"vision.weight": torch.zeros(2, 2)})
    with pytest.raises(WeightsError, match=r"there are no word vectors among vision\.weight"):
        load(folder)


def test_a_configuration_that_is_silent_is_named(changed, tmp_path):
    folder = changed("gpt2")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    del config["n_embd"]
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(WeightsError, match="the file does not say n_embd of its model"):
        load(folder)
    (folder / "config.json").write_text("[]", "utf-8")
    with pytest.raises(WeightsError, match=r"config\.json is no configuration of a model: it names no model_type"):
        load(folder)
    (folder / "config.json").unlink()
    with pytest.raises(WeightsError, match=r"beside model\.safetensors there is no config\.json"):
        load(folder)


def test_what_is_no_model_at_all_is_said(tmp_path):
    with pytest.raises(WeightsError, match="nowhere is neither a file nor a folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(WeightsError, match=r"holds no \*\.safetensors, and 0 \*\.gguf where one is wanted"):
        load(tmp_path)
    other = tmp_path / "other.gguf"
    other.write_bytes(gguf_bytes({"general.architecture": "mamba"}, []))
    with pytest.raises(WeightsError, match=r"other\.gguf holds a model of the kind 'mamba'; of GGUF files llama"):
        load(other)
