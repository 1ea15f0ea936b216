"""A language model that counts: interpolated Kneser–Ney, the best of its kind before neural networks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnbook.data.texts.vocabulary import BOS, EOS
from attnbook.models.inputs import check_words

Context = tuple[int, ...]


class KneserNey(nn.Module):
    """Predicts the next word from the last two, with what it has counted. There is nothing to train.

    With h for the words before w, and h′ for h without its first word::

        p(w | h) = max(c(h w) − d, 0) / c(h •) + d · N(h •) / c(h •) · p(w | h′)

    N(h •) is the number of different words after h. For the whole h, c counts how often; for shorter ones it counts
    after how many different words h w was seen. Without any word before, all words of the vocabulary are equal.

    Args:
        sentences: each a list of word numbers, without begin and end.
        vocabulary_size: V, specials included.
        order: words in a group, 3 for a trigram.
        discount: d, from 0 to 1; estimated for each order when left out.

    Raises:
        ValueError: if ``order`` is below 1, ``discount`` is not above 0 and at most 1, or there are no sentences.

    Source: Kneser and Ney 1995; Chen and Goodman 1999, section 2.7, for the interpolated form and the estimate of d.
    """

    precision: Tensor

    def __init__(
        self, sentences: Iterable[Sequence[int]], vocabulary_size: int, order: int = 3, discount: float | None = None
    ) -> None:
        super().__init__()
        if order < 1:
            raise ValueError(f"order must be at least 1, got {order}")
        if discount is not None and not 0 < discount <= 1:
            raise ValueError(f"discount must be above 0 and at most 1, got {discount}")
        groups = count_groups(sentences, order)
        if not groups:
            raise ValueError("sentences is empty; there is nothing to count")
        self.order, self.vocabulary_size = order, vocabulary_size
        self.discounts: list[float] = []
        self.tables: list[dict[Context, tuple[Tensor, Tensor]]] = []  # for each length of h: words after it, counts
        for _ in range(order):
            self.discounts.insert(0, estimate_discount(groups.values()) if discount is None else discount)
            self.tables.insert(0, _by_context(groups))
            groups = Counter(group[1:] for group in groups)  # after how many different words
        # It holds nothing, and has the dtype of the module: `.double()` asks for probabilities in double precision.
        self.register_buffer("precision", torch.empty(0), persistent=False)
        self._short: dict[tuple[Context, torch.dtype], Tensor] = {}  # rows of at most one word, which come often

    def get_extra_state(self) -> dict[str, Any]:
        """The counts, which ``state_dict`` takes along: of each order groups ``(N, length)`` and counts ``(N,)``."""
        groups, counts = [], []
        for table in self.tables:
            groups.append([(*context, word) for context, (words, _) in table.items() for word in words.tolist()])
            counts.append(torch.cat([of_context for _, of_context in table.values()]).long())
        size = {"order": self.order, "vocabulary_size": self.vocabulary_size}
        return {**size, "discounts": self.discounts, "groups": list(map(torch.tensor, groups)), "counts": counts}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Take over the counts of another model of the same size. Raises ValueError for another size."""
        for name, own in (("order", self.order), ("vocabulary_size", self.vocabulary_size)):
            if state[name] != own:
                raise ValueError(f"the state is of a model with {name} {state[name]}, and this one has {own}")
        pairs = zip(state["groups"], state["counts"], strict=True)
        self.tables = [_by_context(dict(zip(map(tuple, g.tolist()), c.tolist(), strict=True))) for g, c in pairs]
        self.discounts, self._short = list(state["discounts"]), {}

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """States of before had no counts in them. From such a one nothing is taken, as it always was."""
        if (name := f"{prefix}_extra_state") not in state_dict:
            state_dict[name] = self.get_extra_state()
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def probabilities(self, context: Context) -> Tensor:
        """How likely each word is after ``context``, the last words at most: ``(V,)``, sums to 1."""
        kept = context, self.precision.dtype
        if kept in self._short:
            return self._short[kept]
        lower = self.probabilities(context[1:]) if context else self._uniform()  # (V,)
        table, discount = self.tables[len(context)], self.discounts[len(context)]
        if context not in table:
            return lower
        words, counts = table[context][0], table[context][1].to(lower.dtype)  # (N,) each
        row = lower * (discount * len(words) / counts.sum())  # (V,)
        row[words] += (counts - discount).clamp_min(0) / counts.sum()
        if len(context) <= 1:
            self._short[kept] = row
        return row

    def _uniform(self) -> Tensor:
        """All words are equal: ``(V,)``, on the CPU as the tables, which do not move with the module."""
        return torch.full((self.vocabulary_size,), 1 / self.vocabulary_size, dtype=self.precision.dtype)

    def counts(self) -> int:
        """How many counts the model keeps, over all orders."""
        return sum(len(words) for table in self.tables for words, _ in table.values())

    def start(self) -> None:
        """Nothing read yet."""

    def step(self, token: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor, None]:
        """Read one word ``token (B,)`` -> log-probabilities ``(B, V)`` of the next, the last words, and no weights."""
        before = token.new_full((len(token), self.order - 1), BOS) if state is None else state
        state = torch.cat([before, token[:, None]], dim=1)[:, 1:]  # (B, order − 1)
        rows = [self.probabilities(tuple(context)) for context in state.tolist()]
        return torch.stack(rows).log().to(token.device), state, None

    def select(self, state: Tensor, rows: Tensor) -> Tensor:
        """The last words of the sentences ``rows (N,)``."""
        return state.index_select(0, rows)

    def forward(self, words: Tensor) -> tuple[Tensor, None]:
        """Read ``words (B, T)`` from the beginning: log-probabilities ``(B, T, V)`` of each next word, and no weights.

        Raises:
            ValueError: if ``words`` is not ``(B, T)`` with B > 0 and T > 0.
        """
        check_words(words)
        state, steps = None, []
        for token in words.unbind(dim=1):
            logits, state, _ = self.step(token, state)
            steps.append(logits)
        return torch.stack(steps, dim=1), None


def count_groups(sentences: Iterable[Sequence[int]], order: int) -> Counter[Context]:
    """How often each group of ``order`` words occurs; a sentence ends with EOS, and BOS fills up what is before it."""
    groups: Counter[Context] = Counter()
    for sentence in sentences:
        words = [*[BOS] * (order - 1), *sentence, EOS]
        groups.update(zip(*(words[i:] for i in range(order)), strict=False))
    return groups


def estimate_discount(counts: Iterable[int]) -> float:
    """d = n₁ / (n₁ + 2 n₂), from how many counts are 1 and how many are 2; a half where no count is 1.

    Source: Ney, Essen and Kneser 1994; equation 16 of Chen and Goodman 1999.
    """
    found = Counter(counts)
    return found[1] / (found[1] + 2 * found[2]) if found[1] else 0.5


def _by_context(groups: Mapping[Context, int]) -> dict[Context, tuple[Tensor, Tensor]]:
    """``{h: (words after it (N,), their counts (N,))}``."""
    table: dict[Context, list[tuple[int, int]]] = defaultdict(list)
    for (*context, word), count in groups.items():
        table[tuple(context)].append((word, count))
    found = ((context, torch.tensor(pairs)) for context, pairs in table.items())  # (N, 2)
    return {context: (pairs[:, 0], pairs[:, 1].to(torch.get_default_dtype())) for context, pairs in found}
