"""Our Transformer beside ``torch.nn.Transformer`` of the same size: ``python benchmarks/transformer.py``.

Training: both take turns, step by step, on the same batches, so that a busy machine slows both alike. Decoding: our
model with its cache of keys and values, against the same model reading the whole beginning again for each word.
Prints ratios; above 1 means that ours is faster. One of the sizes is that of the translators of chapter 18. With
``--device cuda`` the same runs on a GPU, in single precision there, too.
"""

import argparse
import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import causal_mask
from attnbook.data import Batch, shift_right
from attnbook.data.texts.translation import PIECES
from attnbook.decoding import WithoutCache, greedy
from attnbook.models import Transformer, TransformerConfig
from attnbook.models.transformer import Embedding
from attnbook.training import sequence_loss
from attnruns.experiments.translate import TRANSFORMER
from attnruns.shared.timing import wall_seconds


class Size(NamedTuple):
    """Of a model and of its batches: ``batch`` sentences, the longest of ``length`` words out of ``words``."""

    config: TransformerConfig
    batch: int
    length: int
    words: int = 1000


def of_width(d_model: int, batch: int, length: int) -> Size:
    """A size with attention in blocks, as torch's model has it."""
    config = TransformerConfig(
        d_model=d_model, heads=4, d_ff=4 * d_model, norm="pre", positions="sinusoidal", fused=True, dropout=0.1
    )
    return Size(config, batch, length)


# 128 sentences of at most 16 pieces are the 2048 tokens of a batch there. The translator keeps its attention weights
# (they are drawn); fused it does not, as torch's does not.
TRANSLATION = Size(TransformerConfig(**TRANSFORMER, dropout=0.15), 128, 16, PIECES)
TRAININGS = (
    of_width(64, 32, 24), of_width(256, 16, 64),
    TRANSLATION, TRANSLATION._replace(config=replace(TRANSLATION.config, fused=True)),
)  # fmt: skip
DECODED = TransformerConfig(d_model=128, d_ff=512, positions="sinusoidal")
DECODINGS = (*(Size(DECODED, 16, length) for length in (25, 50, 100, 200)), TRANSLATION)


class TorchTransformer(nn.Module):
    """torch's encoder and decoder between our embeddings and our tied output layer."""

    def __init__(self, config: TransformerConfig, words: int) -> None:
        super().__init__()
        self.embed_source, self.embed_target = Embedding(words, config), Embedding(words, config)
        self.core = nn.Transformer(
            config.d_model,
            config.heads,
            config.layers,
            config.layers,
            config.d_ff,
            dropout=config.dropout,
            batch_first=True,
            norm_first=config.norm == "pre",
        )

    def forward(self, source: Tensor, lengths: Tensor, decoder_input: Tensor) -> tuple[Tensor, None]:
        """Logits ``(B, T, V)``; torch's masks are True where one may *not* look."""
        padding = torch.arange(source.shape[1], device=source.device) >= lengths[:, None]  # (B, Tk)
        hidden = self.core(
            self.embed_source(source),
            self.embed_target(decoder_input),
            tgt_mask=~causal_mask(decoder_input.shape[1], device=source.device),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return hidden @ self.embed_target.words.weight.T, None


def random_batch(size: Size, seed: int) -> Batch:
    """Sentences of random words, the shortest half as long as the longest."""
    generator, length = torch.Generator().manual_seed(seed), size.length
    lengths = torch.randint(length // 2, length + 1, (size.batch,), generator=generator)
    lengths[0] = length
    words = torch.randint(4, size.words, (2, size.batch, length), generator=generator)
    padding = torch.arange(length) >= lengths[:, None]
    return Batch(words[0].masked_fill(padding, 0), lengths, words[1].masked_fill(padding, 0))


def training_step(model: nn.Module) -> Callable[[Batch], None]:
    """One step of training as a function of the batch."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(batch: Batch) -> None:
        logits, _ = model(batch.source, batch.lengths, shift_right(batch.target))
        optimiser.zero_grad()
        sequence_loss(logits, batch.target).backward()
        optimiser.step()

    return step


def compare_training(size: Size, rounds: int, device: str = "cpu") -> float:
    """Print words a second of both, and return how many times as fast ours is (median of the paired steps)."""
    torch.manual_seed(0)
    config, words = size.config, size.words
    models = Transformer(words, words, config), TorchTransformer(config, words)
    ours, theirs = (training_step(model.to(device)) for model in models)
    ratios, mine = [], []
    for number in range(rounds + 3):
        data = random_batch(size, number).to(device)
        turns = (ours, theirs) if number % 2 else (theirs, ours)
        took = {step: wall_seconds(step, data, device=device) for step in turns}
        if number >= 3:  # the first steps warm up
            ratios.append(took[theirs] / took[ours])
            mine.append(int(2 * data.lengths.sum()) / took[ours])
    ratio = statistics.median(ratios)
    print(
        f"training  {named(size)}, T={size.length}{', fused' if config.fused else ''}: "
        f"ours {statistics.median(mine):,.0f} words/s, {ratio:.2f} × torch.nn.Transformer"
    )
    return ratio


def compare_decoding(size: Size, rounds: int, device: str = "cpu") -> float:
    """Print and return how many times as fast decoding of ``size.length`` words is with the cache."""
    torch.manual_seed(0)
    model = Transformer(size.words, size.words, size.config).eval().to(device)
    data = random_batch(size, 0).to(device)
    write = partial(greedy, max_length=size.length, eos=-1)  # no word ends a sentence: all are of that length
    ratios, mine = [], []
    for _ in range(rounds):
        cached = wall_seconds(write, model, data.source, data.lengths, device=device)
        again = wall_seconds(write, WithoutCache(model), data.source, data.lengths, device=device)
        ratios.append(again / cached)
        mine.append(size.batch * size.length / cached)
    ratio = statistics.median(ratios)
    print(
        f"decoding  {named(size)}, {size.length} words: "
        f"{statistics.median(mine):,.0f} words/s, {ratio:.1f} × with the cache"
    )
    return ratio


def named(size: Size) -> str:
    """Width, layers and batch."""
    config = size.config
    return f"D={config.d_model} {config.layers}+{config.layers} layers, B={size.batch}"


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="paired training steps")
    parser.add_argument("--threads", type=int, default=1, help="more than one only on an idle machine")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1; default: cpu")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    for size in TRAININGS:
        compare_training(size, options.rounds, options.device)
    for size in DECODINGS:
        compare_decoding(size, 3, options.device)


if __name__ == "__main__":
    main()
