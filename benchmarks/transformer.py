"""Our Transformer beside ``torch.nn.Transformer`` of the same size: ``python benchmarks/transformer.py``.

Training: both take turns, step by step, on the same batches, so that a busy machine slows both alike. Decoding: our
model with its cache of keys and values, against the same model reading the whole beginning again for each word.
Prints ratios; above 1 means that ours is faster.
"""

import argparse
import statistics
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from attnbook.attention import causal_mask
from attnbook.data import Batch
from attnbook.decoding import WithoutCache, greedy
from attnbook.experiments.shared.timing import wall_seconds
from attnbook.models import Transformer, TransformerConfig
from attnbook.models.transformer import Embedding
from attnbook.training import sequence_loss, shift_right

WORDS = 1000


class TorchTransformer(nn.Module):
    """torch's encoder and decoder between our embeddings and our tied output layer."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.embed_source, self.embed_target = Embedding(WORDS, config), Embedding(WORDS, config)
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
        padding = torch.arange(source.shape[1]) >= lengths[:, None]  # (B, Tk)
        hidden = self.core(
            self.embed_source(source),
            self.embed_target(decoder_input),
            tgt_mask=~causal_mask(decoder_input.shape[1]),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return hidden @ self.embed_target.words.weight.T, None


def random_batch(batch: int, length: int, seed: int) -> Batch:
    """Sentences of random words, the shortest half as long as the longest."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(length // 2, length + 1, (batch,), generator=generator)
    lengths[0] = length
    words = torch.randint(4, WORDS, (2, batch, length), generator=generator)
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


def compare_training(config: TransformerConfig, batch: int, length: int, rounds: int) -> float:
    """Print words a second of both, and return how many times as fast ours is (median of the paired steps)."""
    torch.manual_seed(0)
    ours, theirs = (training_step(model) for model in (Transformer(WORDS, WORDS, config), TorchTransformer(config)))
    ratios, mine = [], []
    for number in range(rounds + 3):
        data = random_batch(batch, length, number)
        turns = (ours, theirs) if number % 2 else (theirs, ours)
        took = {step: wall_seconds(step, data) for step in turns}
        if number >= 3:  # the first steps warm up
            ratios.append(took[theirs] / took[ours])
            mine.append(int(2 * data.lengths.sum()) / took[ours])
    ratio = statistics.median(ratios)
    print(
        f"training  D={config.d_model} {config.layers}+{config.layers} layers, B={batch}, T={length}: "
        f"ours {statistics.median(mine):,.0f} words/s, {ratio:.2f} × torch.nn.Transformer"
    )
    return ratio


def compare_decoding(config: TransformerConfig, batch: int, length: int, rounds: int) -> float:
    """Print and return how many times as fast decoding of ``length`` words is with the cache."""
    torch.manual_seed(0)
    model = Transformer(WORDS, WORDS, config).eval()
    data = random_batch(batch, length, 0)
    write = partial(greedy, max_length=length, eos=-1)  # no word ends a sentence: all are `length` words long
    ratios = []
    for _ in range(rounds):
        cached = wall_seconds(write, model, data.source, data.lengths)
        ratios.append(wall_seconds(write, WithoutCache(model), data.source, data.lengths) / cached)
    print(f"decoding  D={config.d_model}, B={batch}, {length} words: {statistics.median(ratios):.1f} × with the cache")
    return statistics.median(ratios)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="paired training steps")
    parser.add_argument("--threads", type=int, default=1, help="more than one only on an idle machine")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    for d_model, batch, length in ((64, 32, 24), (256, 16, 64)):
        config = TransformerConfig(
            d_model=d_model, heads=4, d_ff=4 * d_model, norm="pre", positions="sinusoidal", fused=True, dropout=0.1
        )
        compare_training(config, batch, length, options.rounds)
    for length in (25, 50, 100, 200):
        compare_decoding(TransformerConfig(d_model=128, d_ff=512, positions="sinusoidal"), 16, length, 3)


if __name__ == "__main__":
    main()
