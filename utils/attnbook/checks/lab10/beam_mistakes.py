"""What goes wrong in a beam search: the known mistakes of lab 10's hardest exercise, as edits of its reference."""

from __future__ import annotations

from ..engine.exercise import Mistake

_ALL_EQUAL = {'float("-inf"), dtype=state[0].dtype': "0.0, dtype=state[0].dtype"}
_FREEZE = "torch.where(ended[..., None], only_eos, log_p)"
_ASIDE = """\
all_tokens, all_scores = [], []
rows = torch.arange(len(state[0]))
for b in rows.tolist():
    beams, done = [([bos], 0.0, select(state, rows[b : b + 1]))], []
    for _ in range(max_length):
        grown = []
        for said, score, kept in beams:
            logits, new = step(torch.tensor([said[-1]]), kept)
            for word, log_p in enumerate(logits[0].log_softmax(-1).tolist()):
                grown.append((said + [word], score + log_p, new))
        grown.sort(key=lambda beam: -beam[1])
        done += [beam for beam in grown[: 2 * width] if beam[0][-1] == eos]
        beams = [beam for beam in grown if beam[0][-1] != eos][:width]
    best = sorted(done + beams, key=lambda beam: -beam[1])[:width]
    all_tokens.append([(said[1:] + [eos] * max_length)[:max_length] for said, _, _ in best])
    all_scores.append([score for _, score, _ in best])
return torch.tensor(all_tokens), torch.tensor(all_scores, dtype=state[0].dtype)
"""

AT_THE_START = [
    Mistake(
        "all beams equal at the start",
        "You began with W beginnings of score 0. They are all the same, so each step finds the same W words of each of "
        "them, and your beams stay copies. Let one begin with 0 and the others with −∞. (If each beam goes on with its "
        "own best word only, mend that as well: all W·V compete.)",
        _ALL_EQUAL,
    ),
    Mistake(
        "state not repeated",
        "You called `step` with W rows a sentence, but with the state as it came, one row a sentence. Each beam needs "
        "a row of its own: take each row W times, `select(state, torch.arange(B).repeat_interleave(W))`.",
        {"select(state, rows.expand(-1, width).flatten())": "state"},
    ),
    Mistake(
        "states repeated in the wrong order",
        "You laid the batch W times end to end (repeat): row 1 is sentence 1. But rows b·W to b·W + W − 1 must "
        "belong to sentence b, next to each other: repeat_interleave.",
        {"rows.expand(-1, width).flatten()": "rows.flatten().repeat(width)"},
    ),
]

SCORES = [
    Mistake(
        "only the last word counts",
        "You ranked by the log-probability of the last word alone. A sentence's score is the *sum* over its words: add "
        "what the beginning had.",
        {"scores[..., None] + torch.where": "scores[..., None].where(scores[..., None].isinf(), 0) + torch.where"},
    ),
    Mistake(
        "only the last word counts, from equal beams",
        "You ranked by the log-probability of the last word alone: what the beginnings had is never added, not even "
        "the 0 and the −∞ of the start. A sentence's score is the *sum* over its words.",
        {"scores[..., None] + torch.where": "torch.where"},
    ),
    Mistake(
        "softmax, not its logarithm",
        "You added probabilities. The probability of a sentence is a *product*; logarithms turn it into a sum. So add "
        "log-probabilities.",
        {"logits.log_softmax(-1)": "logits.softmax(-1)"},
    ),
    Mistake(
        "logits added as they are",
        "You added raw logits. They are not comparable between beginnings: each has its own normalisation. "
        "log_softmax first.",
        {"logits.log_softmax(-1)": "logits"},
    ),
    Mistake(
        "probabilities returned",
        "The sentences are right, but your scores are probabilities. Return the sums of log-probabilities.",
        {"return tokens[..., 1:], scores": "return tokens[..., 1:], scores.exp()"},
    ),
    Mistake(
        "costs returned",
        "Your scores have the wrong sign. A log-probability is below 0, and the best is the largest.",
        {"return tokens[..., 1:], scores": "return tokens[..., 1:], -scores"},
    ),
    Mistake(
        "mean, not sum",
        "You ranked by the mean over the words so far. Here the plain sum decides; the length is seen to "
        "afterwards, in "
        "the next exercise.",
        {"scores, best = totals.flatten(1).topk(width)":
         "sizes = (tokens[..., 1:] != eos).sum(-1) + 1\n"
         "        best = (totals / sizes[..., None]).flatten(1).topk(width).indices\n"
         "        scores = totals.flatten(1).gather(1, best)"},
    ),
]

AT_THE_END = [
    Mistake(
        "ended beams go on",
        "Your ended sentences go on with other words. A sentence that has said `eos` is finished: it stays among the W "
        "with the score it has, and only repeats `eos`.",
        {_FREEZE: "log_p"},
    ),
    Mistake(
        "ended sentences re-scored",
        "Your ended sentences repeat `eos`, and each repetition costs them. They must keep their score: after the end "
        "`eos` comes with log-probability 0.",
        {"only_eos[..., eos] = 0.0": "only_eos[..., eos] = log_p[..., eos]"},
    ),
    Mistake(
        "ended beams may say anything for nothing",
        "You gave an ended sentence log-probability 0 for *every* word, so it comes back V times. Only `eos` "
        "may follow, "
        "with 0; all else is −∞.",
        {"only_eos = torch.full_like(log_p, float(\"-inf\"))": "only_eos = torch.zeros_like(log_p)"},
    ),
    Mistake(
        "ended beams thrown away",
        "Your ended sentences vanish: all their continuations got −∞. They must stay and compete, with `eos` at no "
        "cost.",
        {"only_eos[..., eos] = 0.0": "pass"},
    ),
    Mistake(
        "ended beams put aside",
        "You put ended sentences aside and filled their places with other beginnings. Many programs do, and search a "
        "little more. Here an ended sentence keeps its place among the W, so that fewer are left to go on.",
        _ASIDE,
    ),
    Mistake(
        "stopped when the best had ended",
        "You stopped when the best beam of each sentence had ended. The others are unfinished, and are asked for too: "
        "stop when all W have ended.",
        {"if ended.all():": "if ended[:, 0].all():"},
    ),
    Mistake(
        "the first to end stops all",
        "You stopped as soon as some beam had ended. Stop when all of them have, of all sentences.",
        {"if ended.all():": "if ended.any():"},
    ),
]

BOOKKEEPING = [
    Mistake(
        "no parents",
        "You appended the new words to the beginnings as they lay. But new beam w may continue another old one: take "
        "the tokens of its *parent* first.",
        {"tokens.take_along_dim(parent[..., None], 1)": "tokens"},
    ),
    Mistake(
        "states not reordered",
        "You reordered the tokens but not the states. Beam w then goes on with the memory of another beginning. Take "
        "the parents' rows of the state too.",
        {"state = select(state, (parent + width * rows).flatten())": "pass"},
    ),
    Mistake(
        "states of other sentences",
        "You used the parent's number, 0 to W − 1, as a row of the state. But the state has B·W rows, and those of "
        "sentence b begin at b·W: add that.",
        {"(parent + width * rows)": "parent"},
    ),
    Mistake(
        "states of other sentences, B for W",
        "You counted the state's rows with B in place of W. Each sentence has W rows, so those of sentence b begin at "
        "b·W: parent + W · b.",
        {"(parent + width * rows)": "(parent + len(rows) * rows)"},
    ),
    Mistake(
        "only half of the state reordered",
        "You reordered the first tensor of the state only. All of them belong to the beginnings: use `select`, or go "
        "through the whole tuple.",
        {"state = select(state, (parent + width * rows).flatten())":
         "state = (select(state[0], (parent + width * rows).flatten()), *state[1:])"},
    ),
    Mistake(
        "ends not reordered",
        "You kept for each *place* whether it has ended. When the beams change places these marks must go with them: "
        "take the parents' marks.",
        {"ended.take_along_dim(parent, 1)": "ended"},
    ),
    Mistake(
        "divided by the width",
        "You divided the flat number by W. In a row of W·V candidates, number i continues beam i // V with word i % V.",
        {"best // words, best % words": "best // width, best % width"},
    ),
    Mistake(
        "parent and word swapped",
        "You took the remainder for the parent and the quotient for the word. Candidate i continues beam i // V with "
        "word i % V.",
        {"best // words, best % words": "best % words, best // words"},
    ),
    Mistake(
        "new words reordered too",
        "You appended the new words first and took the parents' rows afterwards. The words belong to the *new* beams "
        "already: reorder the old tokens, then append.",
        {"torch.cat([tokens.take_along_dim(parent[..., None], 1), word[..., None]], dim=-1)":
         "torch.cat([tokens, word[..., None]], dim=-1).take_along_dim(parent[..., None], 1)"},
    ),
]

CHOICE = [
    Mistake(
        "one word for each beam",
        "You let each beam go on with its own best word only. The W best of *all* W·V continuations are "
        "wanted: two may "
        "come from one beam, and none from another.",
        {"scores, best = totals.flatten(1).topk(width)":
         "if _:\n            scores, best = totals.max(-1)\n            order = scores.argsort(1, descending=True)\n"
         "            best = (best + words * torch.arange(width)).take_along_dim(order, 1)\n"
         "            scores = scores.take_along_dim(order, 1)\n        else:\n"
         "            scores, best = totals.flatten(1).topk(width)"},
    ),
    Mistake(
        "one word for each beam, from the start",
        "You let each beam go on with its own best word. Then the beams never compete, and those that began with −∞ "
        "stay there. Flatten (B, W, V) to (B, W·V): the W best of *all* of these are wanted.",
        {"totals.flatten(1).topk(width)":
         "totals.max(-1).values, totals.argmax(-1) + words * torch.arange(width)"},
    ),
    Mistake(
        "W words of one beam only",
        "You took the W best words of the best beam. All beams compete: flatten (B, W, V) to (B, W·V), then topk.",
        {"totals.flatten(1).topk(width)": "totals[:, 0].topk(width)"},
    ),
    Mistake(
        "the worst are kept",
        "You kept the smallest scores. Log-probabilities are negative, but still the largest is the best.",
        {"topk(width)": "topk(width, largest=False)"},
    ),
    Mistake(
        "best last",
        "You returned the beams with the best last. The best stands first.",
        {"return tokens[..., 1:], scores": "return tokens[..., 1:].flip(1), scores.flip(1)"},
    ),
    Mistake(
        "only the best returned",
        "You returned one sentence only. All W are asked for, (B, W, L) and (B, W): the next exercise chooses among "
        "them.",
        {"return tokens[..., 1:], scores": "return tokens[:, 0, 1:], scores[:, 0]"},
    ),
    Mistake(
        "bos in the sentences",
        "Your sentences begin with `bos`. It is the first input, and no word of the sentence.",
        {"return tokens[..., 1:], scores": "return tokens, scores"},
    ),
    Mistake(
        "one word too few",
        "You made max_length − 1 steps. `bos` is not one of the words that count.",
        {"range(max_length)": "range(max_length - 1)"},
    ),
    Mistake(
        "one word too many",
        "You made max_length + 1 steps. A sentence has at most `max_length` words, its end symbol included.",
        {"range(max_length)": "range(max_length + 1)"},
    ),
    Mistake(
        "end symbol taken to be 2",
        "You end sentences with word number 2. Which number ends a sentence comes in as `eos`.",
        {"(word == eos)": "(word == 2)", "only_eos[..., eos]": "only_eos[..., 2]"},
    ),
    Mistake(
        "results swapped",
        "You returned the scores first. Wanted are (tokens, scores).",
        {"return tokens[..., 1:], scores": "return scores, tokens[..., 1:]"},
    ),
]

MISTAKES = [*AT_THE_START, *SCORES, *AT_THE_END, *BOOKKEEPING, *CHOICE]
