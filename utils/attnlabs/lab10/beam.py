"""Lab 10: beam search."""

import torch
from torch.nn import functional as F

from attnbook.decoding import select
from misread.exercise import About, Exercise

from ..fakes.writer import fake_writer, long_winded


def beam_search(step, state, bos, eos, width, max_length):
    """The W best sentences, best first: tokens (B, W, L), sums of log-probabilities (B, W)."""
    rows = torch.arange(len(state[0]), device=state[0].device)[:, None]  # (B, 1)
    state = select(state, rows.expand(-1, width).flatten())  # (B, ...) -> (B·W, ...): each sentence W times
    tokens = torch.full((len(rows), width, 1), bos, device=rows.device)  # (B, W, 1)
    scores = torch.full((len(rows), width), float("-inf"), dtype=state[0].dtype, device=rows.device)  # (B, W)
    scores[:, 0] = 0.0  # one beginning, not W equal ones
    ended = torch.zeros_like(tokens[:, :, 0], dtype=torch.bool)  # (B, W)
    for _ in range(max_length):
        logits, state = step(tokens[:, :, -1].flatten(), state)
        log_p = logits.log_softmax(-1).unflatten(0, (-1, width))  # (B, W, V)
        words = log_p.shape[-1]
        only_eos = torch.full_like(log_p, float("-inf"))
        only_eos[..., eos] = 0.0
        totals = scores[..., None] + torch.where(ended[..., None], only_eos, log_p)  # (B, W, V)
        scores, best = totals.flatten(1).topk(width)  # (B, W), best first
        parent, word = best // words, best % words  # (B, W): which beginning goes on, and how
        tokens = torch.cat([tokens.take_along_dim(parent[..., None], 1), word[..., None]], dim=-1)
        ended = ended.take_along_dim(parent, 1) | (word == eos)
        state = select(state, (parent + width * rows).flatten())
        if ended.all():
            break
    return tokens[..., 1:], scores


def _searches(draw):
    bos, eos = (1, 2) if draw.number % 2 == 0 else (0, 3)
    batch, dim = draw.sizes(2)
    for size, words, width, length, likes_to_end in (
        (batch, 6, 3, 5, 1.2),
        (2, 5, 2, 4, 0.8),
        (1, 4, 3, 4, 1.0),  # one sentence
        (3, 6, 3, 3, -0.5),  # as many sentences as beams; hardly one ends
        (2, 5, 4, 6, 2.5),  # nearly all end
        (2, 5, 1, 4, 0.6),  # greedy
        (2, 4, 4, 3, 0.7),  # as many beams as words
        (2, 5, 3, 1, 0.7),  # one word only
    ):
        state = draw.normal(size, dim), draw.normal(size, dim)
        yield fake_writer(draw, words, dim, eos, likes_to_end), state, bos, eos, width, length
    writer, state = fake_writer(draw, 6, dim, eos, 0.8), (draw.normal(2, dim), draw.normal(2, dim))
    writer.bias[bos] = -torch.inf  # never said, as in the lab's language of two words
    yield writer, state, bos, eos, 3, 5
    writer, state = fake_writer(draw, 6, dim, eos, 0.0), (draw.normal(2, dim), draw.normal(2, dim))
    writer.out *= 1000  # sure of itself: exp of the logits is infinite
    yield writer, state, bos, eos, 2, 4
    state = draw.normal(2, dim), draw.normal(2, dim)
    yield fake_writer(draw, 5, dim, eos, 3e4), state, bos, eos, 2, 3  # all other words are next to impossible
    state = (draw.normal(2, dim),)
    yield fake_writer(draw, 6, dim, eos, 0.5, parts=1), state, bos, eos, 3, 5
    state = draw.normal(2, dim), draw.normal(2, 1, dim), draw.normal(2)
    yield fake_writer(draw, 7, dim, eos, 0.5, parts=3), state, bos, eos, 3, 5
    if draw.number == 1:
        state = torch.zeros(2, 2, dtype=torch.float64), draw.normal(2, 2)
        yield long_winded(draw, 30, bos, eos), state, bos, eos, 3, 240  # the product of so many probabilities is 0


def _to_full_length(result, step, state, bos, eos, width, max_length):
    """Stopping when all have ended is as right as repeating the end symbol up to `max_length`."""
    if not isinstance(result, (tuple, list)) or len(result) != 2 or not isinstance(result[0], torch.Tensor):
        return result
    tokens, scores = result
    if isinstance(scores, torch.Tensor) and (tokens.dim(), scores.dim()) == (2, 3):  # returned the wrong way round
        return _to_full_length((scores, tokens), step, state, bos, eos, width, max_length)[::-1]
    if tokens.dim() != 3 or tokens.shape[2] == 0 or (tokens[..., -1] != eos).any():
        return result
    return F.pad(tokens, (0, max(max_length - tokens.shape[2], 0)), value=eos), scores


def _rescored(tokens, step, state, bos, eos):
    """Log-probability of each sentence, up to and with its first end symbol: (B, W, L) -> (B, W)."""
    width = tokens.shape[1]
    state = tuple(part.repeat_interleave(width, 0) for part in state)
    rows, said = tokens.flatten(0, 1), torch.full_like(tokens.flatten(0, 1)[:, 0], bos)
    total, alive = torch.zeros(len(rows), dtype=state[0].dtype), torch.ones(len(rows), dtype=torch.bool)
    for word in rows.unbind(1):
        logits, state = step(said, state)
        total = total + logits.log_softmax(-1).gather(1, word[:, None])[:, 0] * alive
        said, alive = word, alive & (word != eos)
    return total.view(tokens.shape[:2])


def _each_once(tokens):
    return all(len({tuple(row) for row in beams}) == len(beams) for beams in tokens.tolist())


BEAM_SEARCH = Exercise(
    beam_search,
    cases=_searches,
    canonical=_to_full_length,
    returns=("tokens", "scores"),
    gradients=False,
    about=About(points=6, minutes=38, difficulty=5, read_again="Beam search: more than one hypothesis"),
)

must = BEAM_SEARCH.properties
must(
    "eos is repeated",
    lambda result, step, state, bos, eos, *others: (result[0][(result[0] == eos).long().cumsum(-1) > 0] == eos).all(),
).says("""
    A sentence that has written its end symbol must repeat it up to the last column, and in your result other words
    follow it.""")
must("W different sentences", lambda result, *others: _each_once(result[0])).says("""
    You returned the same sentence more than once. The W beams of a source must all be different.""")
must("best first", lambda result, *others: (result[1].diff(dim=1) <= 1e-9).all()).says("""
    The scores of each source must fall from left to right, because the best beam stands first.""")
must(
    "scores belong to their sentences",
    lambda result, step, state, bos, eos, *others: torch.allclose(
        _rescored(result[0], step, state, bos, eos), result[1], atol=1e-6
    ),
).says("""
    Each score must be the sum of the log-probabilities of the words beside it, up to and including the end symbol. In
    your result it isn't, which happens when scores, tokens or states are taken from different beams.""")

_ROWS, _RETURN = "(parent + width * rows)", "return tokens[..., 1:], scores"
_EACH_ITS_BEST = "totals.max(-1).values, totals.argmax(-1) + words * torch.arange(width)"

wrong = BEAM_SEARCH.mistakes
wrong("all beams equal at the start", {'float("-inf"), dtype=state[0].dtype': "0.0, dtype=state[0].dtype"}).says("""
    You began with W beams that all have the score 0. Since they are equal, each step finds the same words for
    each of them, and your beams stay copies. Give one of them the score 0 and the others −∞. (If each of your
    beams continues with its own best word only, change that as well, because all W · V continuations compete.)""")
wrong("states repeated in the wrong order", {"rows.expand(-1, width)": "rows.expand(-1, width).T"}).says("""
    You repeated the whole batch W times, so that row 1 belongs to sentence 1. Rows b·W to b·W + W − 1 must belong
    to sentence b, so repeat each row W times: repeat_interleave.""")
wrong("only the last word counts", {"scores[..., None] +": "scores.where(scores.isinf(), 0)[..., None] +"}).says("""
    You ranked by the log-probability of the last word alone. The score of a sentence is the *sum* over its words,
    so add the score of the beginning.""")
wrong("the worst continuations", {".topk(width)": ".topk(width, largest=False)"}).says("""
    You kept the continuations with the *smallest* scores. Log-probabilities are negative, and the best score is the
    largest one, which is nearest to 0: `topk(width)`, or a sort in descending order.""")
wrong("softmax, not its logarithm", {"logits.log_softmax(-1)": "logits.softmax(-1)"}).says("""
    You added probabilities. The probability of a sentence is a *product*, which becomes a sum only for
    logarithms, so add log-probabilities.""")
wrong("logits added as they are", {"logits.log_softmax(-1)": "logits"}).says("""
    You added the logits as they are. They can't be compared between beginnings, because they are not normalised,
    so apply log_softmax first.""")
wrong("ended and unfinished beams exchanged", {"only_eos, log_p)": "log_p, only_eos)"}).says("""
    You exchanged the two cases: beams that have *not* ended may only write `eos`, and those that have ended go on.
    torch.where(condition, a, b) takes a where the condition is True.""")
_ASIDE = """
tokens, scores = [], []
for b in range(len(state[0])):
    beams, finished = [([], 0.0, tuple(part[b : b + 1] for part in state))], []
    for _ in range(max_length):
        grown = []
        for words, score, kept in beams:
            logits, after = step(torch.tensor([words[-1] if words else bos]), kept)
            log_p = logits[0].log_softmax(-1).tolist()
            grown += [([*words, word], score + log_p[word], after) for word in range(len(log_p)) if word != eos]
            finished.append(([*words, eos], score + log_p[eos], after))
        beams = sorted(grown, key=lambda beam: -beam[1])[:width]
    best = sorted(finished + beams, key=lambda beam: -beam[1])[:width]
    tokens.append([(words + max_length * [eos])[:max_length] for words, _, _ in best])
    scores.append([score for _, score, _ in best])
return torch.tensor(tokens), torch.tensor(scores, dtype=state[0].dtype)"""
wrong("ended beams put aside", _ASIDE).says("""
    You put sentences that have ended aside, so that W unfinished beginnings go on beside them. This is a beam search,
    too, but a wider one. Here a sentence that has ended keeps its place among the W beams, as long as it is one of the
    W best.""")
wrong("ended beams go on", {"torch.where(ended[..., None], only_eos, log_p)": "log_p"}).says("""
    In your search, sentences that have ended continue with other words. A sentence that has written `eos` is
    finished: it keeps its score, keeps competing with the others, and only repeats `eos`.""")
wrong("ended sentences re-scored", {"only_eos[..., eos] = 0.0": "only_eos[..., eos] = log_p[..., eos]"}).says("""
    Your ended sentences repeat `eos`, but each repetition lowers their score. They must keep their score, so
    after the end `eos` has the log-probability 0.""")
wrong("ended beams thrown away", {"only_eos[..., eos] = 0.0": "pass"}).says("""
    Your ended sentences disappear, because all their continuations have the score −∞. They must keep competing,
    with `eos` as a continuation that costs nothing.""")
wrong("stopped when the best had ended", {"if ended.all():": "if ended[:, 0].all():"}).says("""
    You stopped when the best beam of each sentence had ended, so that the other beams are unfinished. They are
    returned, too, so stop when all W have ended.""")
wrong("the first to end stops all", {"if ended.all():": "if ended.any():"}).says("""
    You stopped as soon as one beam had ended. Stop when all beams of all sentences have ended.""")
wrong("no parents", {"tokens.take_along_dim(parent[..., None], 1)": "tokens"}).says("""
    You appended the new words to the beams in their old order. The new beam w may continue another old beam, so
    take the tokens of its *parent* first.""")
wrong(
    "only the first token of each parent", {"tokens.take_along_dim(": "tokens.gather(1, ", "None], 1)": "None])"}
).says("""
    Your sentences have one word each. `gather(1, parent[..., None])` takes only the parents' first token, `bos`,
    so that all words between are lost. Take whole rows: `tokens.take_along_dim(parent[..., None], 1)`.""")
wrong("state not kept", {"logits, state = step": "logits, _ = step"}).says("""
    You gave `step` the states of the beginning at every step, so that it forgot the words before the last one. Keep the
    states that `step` returns, reorder them by parent, and give them to `step` again.""")
wrong("states not reordered", {f"state = select(state, {_ROWS}.flatten())": "pass"}).says("""
    You reordered the tokens but not the states, so that a beam continues with the state of another one. Take the
    parents' rows of the state, too.""")
_OF_FIRST = "(select(state[:1], (parent + width * rows).flatten()) + tuple(state[1:]))"
wrong("only the first tensor of the state reordered", {f"select(state, {_ROWS}.flatten())": _OF_FIRST}).says("""
    You reordered the first tensor of the state only. A state is a tuple of several tensors, and each of them has one
    row per beam, so take the parents' rows of *every* tensor, as `select` does.""")
wrong("sentences counted in steps of B", {"(parent + width * rows)": "(parent + len(rows) * rows)"}).says("""
    You took the parents' rows from b·B on. The rows of the state stand sentence by sentence, W for each, so that those
    of sentence b begin at b·W.""")
wrong("states of other sentences", {_ROWS: "parent"}).says("""
    You used the parent's number, 0 to W − 1, as a row of the state. The state has B·W rows, and those of sentence
    b begin at b·W, which must be added.""")
wrong("ends not reordered", {"ended.take_along_dim(parent, 1)": "ended"}).says("""
    You did not reorder the marks of the beams that have ended. When the beams change their order, the marks must
    follow, so take the parents' marks.""")
wrong("divided by the width", {"best // words, best % words": "best // width, best % width"}).says("""
    You divided the flat number by W. In a row of W·V candidates, number i continues beam i // V with word i % V.""")
wrong("parent and word exchanged", {"best // words, best % words": "best % words, best // words"}).says("""
    You exchanged the two parts of the flat number. Candidate i continues beam i // V, its parent, with word i % V.""")
wrong("one word for each beam, from the start", {"totals.flatten(1).topk(width)": _EACH_ITS_BEST}).says("""
    You let each beam continue with its own best word, so that the beams never compete, and those that began with
    −∞ stay there. The W best of *all* continuations are wanted, so flatten (B, W, V) to (B, W·V) first.""")
_FIRST = f"totals.flatten(1).topk(width) if tokens.shape[2] == 1 else ({_EACH_ITS_BEST})"
_SORTED = "order = scores.argsort(1, descending=True)\n    return tokens.take_along_dim(order[..., None], 1)[..., 1:], "
_SORTED += "scores.take_along_dim(order, 1)"
wrong("one word for each beam, after the first", {"totals.flatten(1).topk(width)": _FIRST, _RETURN: _SORTED}).says("""
    You chose the W best first words, and then let each beam continue with its own best word, so that the beams never
    compete. At every step the W best of *all* W · V continuations go on: some beams have two, others none.""")
wrong("bos in the sentences", {_RETURN: "return tokens, scores"}).says("""
    Your sentences begin with `bos`. It is only the first input of the decoder, and not a word of the sentence.""")
wrong("bos kept, the last word dropped", {_RETURN: "return tokens[..., :-1], scores"}).says("""
    You removed the last word of each sentence, and `bos` is still there. `bos`, which is not a word of the sentence,
    stands in front: tokens[..., 1:].""")
wrong("one word too few", {"range(max_length)": "range(max_length - 1)"}).says("""
    You made only max_length − 1 steps. The start symbol `bos` does not count as a word, so max_length steps are
    needed.""")
