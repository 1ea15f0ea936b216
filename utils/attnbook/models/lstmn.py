"""Reading with attention to what was read: the LSTM that keeps every state on a tape, and the plain one beside it.

Both are language models: they read a sentence word by word, and after each word guess the next. So both can write too
(:class:`attnbook.decoding.Decoder`).
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnbook.attention import Additive, PreparedKeys, attend
from attnbook.decoding import select
from attnbook.models.inputs import check_words


class Tapes(NamedTuple):
    """What an LSTMN has kept after t words.

    Fields:
        prepared: ``(B, t, A)``, the keys: the hidden tape h_1 … h_t as the score prepared it.
        values: ``(B, t, 2 · D)``, each position of the hidden tape and of the memory tape side by side, [h_i, c_i].
        summary: ``(B, D)``, h̃_t, what was read from the hidden tape at step t.
    """

    prepared: Tensor
    values: Tensor
    summary: Tensor


class LSTMN(nn.Module):
    """The long short-term memory-network: an LSTM whose last state is replaced by a weighted sum of all states so far.

    At each word x_t, with every earlier h_i as key, [h_i, c_i] as value and [x_t, h̃_{t-1}] as query::

        a_i = vᵀ tanh(W_h h_i + W_x x_t + W_h̃ h̃_{t-1})      for i < t
        [h̃_t, c̃_t] = Σ softmax(a)_i [h_i, c_i]
        h_t, c_t = LSTM(x_t, (h̃_t, c̃_t))

    The first word has no past: there h̃ and c̃ are zeros, as in any LSTM, and all weights are zero.

    Args:
        vocabulary_size: number of words, specials included.
        embedding: features of a word vector, E.
        hidden: features of h and of c, D.
        score_hidden: features in which query and key are added, A; as many as ``hidden`` when left out.

    Source: Cheng, Dong and Lapata 2016, section 3, equations 4 and following; we add biases.
    """

    def __init__(
        self, vocabulary_size: int, embedding: int = 32, hidden: int = 64, score_hidden: int | None = None
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary_size, embedding)
        self.score = Additive(embedding + hidden, hidden, hidden if score_hidden is None else score_hidden)
        self.cell = nn.LSTMCell(embedding, hidden)
        self.output = nn.Linear(hidden, vocabulary_size)

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Read ``words (B, T)``; sentences shorter than T are filled up on the right.

        Returns:
            logits ``(B, T, V)``, row t guesses the word after word t; weights ``(B, T, T)``, row t says where the
            reader looked at word t: sums to 1 over the positions before t. Row 0 is all zeros.

        Raises:
            ValueError: if ``words`` is not ``(B, T)`` with B > 0 and T > 0.
        """
        check_words(words)
        tapes, logits, rows = self.start(), [], []
        for token in words.unbind(dim=1):
            step_logits, tapes, weights = self.step(token, tapes)
            logits.append(step_logits)
            rows.append(nn.functional.pad(weights, (0, words.shape[1] - weights.shape[1])))  # (B, t) -> (B, T)
        return torch.stack(logits, dim=1), torch.stack(rows, dim=1)  # (B, T, V), (B, T, T)

    def start(self) -> Tapes | None:
        """Nothing read yet, and no tapes; a language model has no source."""
        return None

    def step(self, token: Tensor, tapes: Tapes | None = None) -> tuple[Tensor, Tapes, Tensor]:
        """Read one word ``token (B,)`` after those on the tapes (``None``: it is the first).

        Returns:
            logits ``(B, V)``, the tapes one position longer, weights ``(B, t)`` over the t words before.
        """
        x = self.embed(token)  # (B,) -> (B, E)
        read, weights = self._look_back(x, tapes)  # (B, 2 · D), (B, t)
        summary, memory = read.chunk(2, dim=-1)  # h̃ and c̃, (B, D) each
        hidden, cell = self.cell(x, (summary, memory))
        prepared = self.score.project_key(hidden[:, None])  # (B, 1, D) -> (B, 1, A)
        values = torch.cat([hidden, cell], dim=-1)[:, None]  # (B, 1, 2 · D)
        if tapes is not None:
            prepared = torch.cat([tapes.prepared, prepared], dim=1)  # (B, t + 1, A)
            values = torch.cat([tapes.values, values], dim=1)  # (B, t + 1, 2 · D)
        return self.output(hidden), Tapes(prepared, values, summary), weights

    select = staticmethod(select)

    def _look_back(self, x: Tensor, tapes: Tapes | None) -> tuple[Tensor, Tensor]:
        if tapes is None:
            return x.new_zeros(len(x), 2 * self.cell.hidden_size), x.new_zeros(len(x), 0)
        query = torch.cat([x, tapes.summary], dim=-1)[:, None]  # (B, 1, E + D)
        read, weights = attend(query, PreparedKeys(tapes.prepared), tapes.values, score=self.score)
        return read[:, 0], weights[:, 0]  # (B, 1, 2 · D) -> (B, 2 · D), (B, 1, t) -> (B, t)


class LSTMState(NamedTuple):
    """What an LSTM keeps between two words: ``hidden (B, layers, D)`` and ``cell (B, layers, D)``."""

    hidden: Tensor
    cell: Tensor


class LSTMLanguageModel(nn.Module):
    """The same reader without tapes: everything it knows of the sentence is in one state.

    Args:
        vocabulary_size, embedding, hidden: as in :class:`LSTMN`.
        layers: LSTMs one above the other; each reads what the one below has written.
        tied: the output layer is the transpose of the word vectors, which saves as many parameters.

    Raises:
        ValueError: if the model is tied, and ``embedding`` differs from ``hidden``.

    Source: Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000; Press and Wolf 2017 for ``tied``.
    """

    def __init__(
        self, vocabulary_size: int, embedding: int = 32, hidden: int = 64, layers: int = 1, tied: bool = False
    ) -> None:
        super().__init__()
        if tied and embedding != hidden:
            raise ValueError(f"embedding must equal hidden in a tied model, got {embedding} and {hidden}")
        self.embed = nn.Embedding(vocabulary_size, embedding)
        self.rnn = nn.LSTM(embedding, hidden, num_layers=layers, batch_first=True)
        self.output = nn.Linear(hidden, vocabulary_size)
        if tied:
            nn.init.normal_(self.embed.weight, std=hidden**-0.5)  # so that the first logits are not too large
            self.output.weight = self.embed.weight

    def forward(self, words: Tensor) -> tuple[Tensor, None]:
        """Read ``words (B, T)`` -> logits ``(B, T, V)``, and no weights. Raises ValueError as :class:`LSTMN` does."""
        check_words(words)
        states, _ = self.rnn(self.embed(words))  # (B, T) -> (B, T, E) -> (B, T, D)
        return self.output(states), None

    def start(self) -> None:
        """Nothing read yet."""

    def step(self, token: Tensor, state: LSTMState | None = None) -> tuple[Tensor, LSTMState, None]:
        """Read one word ``token (B,)`` -> logits ``(B, V)`` of the next one, the state after it, and no weights."""
        before = None if state is None else tuple(part.transpose(0, 1).contiguous() for part in state)
        states, after = self.rnn(self.embed(token)[:, None], before)  # (B, 1, D), (layers, B, D) twice
        return self.output(states[:, 0]), LSTMState(*(part.transpose(0, 1) for part in after)), None

    select = staticmethod(select)
