"""What goes wrong in a beam search: the known mistakes of lab 10's hardest exercise, as edits of its reference."""

from __future__ import annotations

from ..engine.exercise import Mistakes

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

wrong = AT_THE_START = Mistakes()
wrong("all beams equal at the start", _ALL_EQUAL).says("""
    You began with W beginnings of score 0. They are all the same, so each step finds the same W words of each of
    them, and your beams stay copies. Let one begin with 0 and the others with −∞. (If each beam goes on with its own
    best word only, mend that as well: all W·V compete.)""")
wrong("state not repeated", {"select(state, rows.expand(-1, width).flatten())": "state"}).says("""
    You called `step` with W rows a sentence, but with the state as it came, one row a sentence. Each beam needs a row
    of its own: take each row W times, `select(state, torch.arange(B).repeat_interleave(W))`.""")
wrong(
    "states repeated in the wrong order", {"rows.expand(-1, width).flatten()": "rows.flatten().repeat(width)"}
).says("""
    You laid the batch W times end to end (repeat): row 1 is sentence 1. But rows b·W to b·W + W − 1 must belong to
    sentence b, next to each other: repeat_interleave.""")

wrong = SCORES = Mistakes()
wrong(
    "only the last word counts",
    {"scores[..., None] + torch.where": "scores[..., None].where(scores[..., None].isinf(), 0) + torch.where"},
).says("""
    You ranked by the log-probability of the last word alone. A sentence's score is the *sum* over its words: add what
    the beginning had.""")
wrong("only the last word counts, from equal beams", {"scores[..., None] + torch.where": "torch.where"}).says("""
    You ranked by the log-probability of the last word alone: what the beginnings had is never added, not even the 0
    and the −∞ of the start. A sentence's score is the *sum* over its words.""")
wrong("softmax, not its logarithm", {"logits.log_softmax(-1)": "logits.softmax(-1)"}).says("""
    You added probabilities. The probability of a sentence is a *product*; logarithms turn it into a sum. So add
    log-probabilities.""")
wrong("logits added as they are", {"logits.log_softmax(-1)": "logits"}).says("""
    You added raw logits. They are not comparable between beginnings: each has its own normalisation. log_softmax
    first.""")
wrong("probabilities returned", {"return tokens[..., 1:], scores": "return tokens[..., 1:], scores.exp()"}).says("""
    The sentences are right, but your scores are probabilities. Return the sums of log-probabilities.""")
wrong("costs returned", {"return tokens[..., 1:], scores": "return tokens[..., 1:], -scores"}).says("""
    Your scores have the wrong sign. A log-probability is below 0, and the best is the largest.""")
wrong(
    "mean, not sum",
    {
        "scores, best = totals.flatten(1).topk(width)": "sizes = (tokens[..., 1:] != eos).sum(-1) + 1\n"
        "        best = (totals / sizes[..., None]).flatten(1).topk(width).indices\n"
        "        scores = totals.flatten(1).gather(1, best)"
    },
).says("""
    You ranked by the mean over the words so far. Here the plain sum decides; the length is seen to afterwards, in the
    next exercise.""")

wrong = AT_THE_END = Mistakes()
wrong("ended beams go on", {_FREEZE: "log_p"}).says("""
    Your ended sentences go on with other words. A sentence that has said `eos` is finished: it stays among the W with
    the score it has, and only repeats `eos`.""")
wrong("ended sentences re-scored", {"only_eos[..., eos] = 0.0": "only_eos[..., eos] = log_p[..., eos]"}).says("""
    Your ended sentences repeat `eos`, and each repetition costs them. They must keep their score: after the end `eos`
    comes with log-probability 0.""")
wrong(
    "ended beams may say anything for nothing",
    {'only_eos = torch.full_like(log_p, float("-inf"))': "only_eos = torch.zeros_like(log_p)"},
).says("""
    You gave an ended sentence log-probability 0 for *every* word, so it comes back V times. Only `eos` may follow,
    with 0; all else is −∞.""")
wrong("ended beams thrown away", {"only_eos[..., eos] = 0.0": "pass"}).says("""
    Your ended sentences vanish: all their continuations got −∞. They must stay and compete, with `eos` at no cost.""")
wrong("ended beams put aside", _ASIDE).says("""
    You put ended sentences aside and filled their places with other beginnings. Many programs do, and search a little
    more. Here an ended sentence keeps its place among the W, so that fewer are left to go on.""")
wrong("stopped when the best had ended", {"if ended.all():": "if ended[:, 0].all():"}).says("""
    You stopped when the best beam of each sentence had ended. The others are unfinished, and are asked for too: stop
    when all W have ended.""")
wrong("the first to end stops all", {"if ended.all():": "if ended.any():"}).says("""
    You stopped as soon as some beam had ended. Stop when all of them have, of all sentences.""")

wrong = BOOKKEEPING = Mistakes()
wrong("no parents", {"tokens.take_along_dim(parent[..., None], 1)": "tokens"}).says("""
    You appended the new words to the beginnings as they lay. But new beam w may continue another old one: take the
    tokens of its *parent* first.""")
wrong("states not reordered", {"state = select(state, (parent + width * rows).flatten())": "pass"}).says("""
    You reordered the tokens but not the states. Beam w then goes on with the memory of another beginning. Take the
    parents' rows of the state too.""")
wrong("states of other sentences", {"(parent + width * rows)": "parent"}).says("""
    You used the parent's number, 0 to W − 1, as a row of the state. But the state has B·W rows, and those of sentence
    b begin at b·W: add that.""")
wrong("states of other sentences, B for W", {"(parent + width * rows)": "(parent + len(rows) * rows)"}).says("""
    You counted the state's rows with B in place of W. Each sentence has W rows, so those of sentence b begin at b·W:
    parent + W · b.""")
wrong(
    "only half of the state reordered",
    {
        "state = select(state, (parent + width * rows).flatten())": "state = (select(state[0], (parent + width * rows).flatten()), *state[1:])"
    },
).says("""
    You reordered the first tensor of the state only. All of them belong to the beginnings: use `select`, or go
    through the whole tuple.""")
wrong("ends not reordered", {"ended.take_along_dim(parent, 1)": "ended"}).says("""
    You kept for each *place* whether it has ended. When the beams change places these marks must go with them: take
    the parents' marks.""")
wrong("divided by the width", {"best // words, best % words": "best // width, best % width"}).says("""
    You divided the flat number by W. In a row of W·V candidates, number i continues beam i // V with word i % V.""")
wrong("parent and word swapped", {"best // words, best % words": "best % words, best // words"}).says("""
    You took the remainder for the parent and the quotient for the word. Candidate i continues beam i // V with word i
    % V.""")
wrong(
    "new words reordered too",
    {
        "torch.cat([tokens.take_along_dim(parent[..., None], 1), word[..., None]], dim=-1)": "torch.cat([tokens, word[..., None]], dim=-1).take_along_dim(parent[..., None], 1)"
    },
).says("""
    You appended the new words first and took the parents' rows afterwards. The words belong to the *new* beams
    already: reorder the old tokens, then append.""")

wrong = CHOICE = Mistakes()
wrong(
    "one word for each beam",
    {
        "scores, best = totals.flatten(1).topk(width)": "if _:\n            scores, best = totals.max(-1)\n            order = scores.argsort(1, descending=True)\n"
        "            best = (best + words * torch.arange(width)).take_along_dim(order, 1)\n"
        "            scores = scores.take_along_dim(order, 1)\n        else:\n"
        "            scores, best = totals.flatten(1).topk(width)"
    },
).says("""
    You let each beam go on with its own best word only. The W best of *all* W·V continuations are wanted: two may
    come from one beam, and none from another.""")
wrong(
    "one word for each beam, from the start",
    {"totals.flatten(1).topk(width)": "totals.max(-1).values, totals.argmax(-1) + words * torch.arange(width)"},
).says("""
    You let each beam go on with its own best word. Then the beams never compete, and those that began with −∞ stay
    there. Flatten (B, W, V) to (B, W·V): the W best of *all* of these are wanted.""")
wrong("W words of one beam only", {"totals.flatten(1).topk(width)": "totals[:, 0].topk(width)"}).says("""
    You took the W best words of the best beam. All beams compete: flatten (B, W, V) to (B, W·V), then topk.""")
wrong("the worst are kept", {"topk(width)": "topk(width, largest=False)"}).says("""
    You kept the smallest scores. Log-probabilities are negative, but still the largest is the best.""")
wrong("best last", {"return tokens[..., 1:], scores": "return tokens[..., 1:].flip(1), scores.flip(1)"}).says("""
    You returned the beams with the best last. The best stands first.""")
wrong("only the best returned", {"return tokens[..., 1:], scores": "return tokens[:, 0, 1:], scores[:, 0]"}).says("""
    You returned one sentence only. All W are asked for, (B, W, L) and (B, W): the next exercise chooses among them.""")
wrong("bos in the sentences", {"return tokens[..., 1:], scores": "return tokens, scores"}).says("""
    Your sentences begin with `bos`. It is the first input, and no word of the sentence.""")
wrong("one word too few", {"range(max_length)": "range(max_length - 1)"}).says("""
    You made max_length − 1 steps. `bos` is not one of the words that count.""")
wrong("one word too many", {"range(max_length)": "range(max_length + 1)"}).says("""
    You made max_length + 1 steps. A sentence has at most `max_length` words, its end symbol included.""")
wrong("end symbol taken to be 2", {"(word == eos)": "(word == 2)", "only_eos[..., eos]": "only_eos[..., 2]"}).says("""
    You end sentences with word number 2. Which number ends a sentence comes in as `eos`.""")
wrong("results swapped", {"return tokens[..., 1:], scores": "return scores, tokens[..., 1:]"}).says("""
    You returned the scores first. Wanted are (tokens, scores).""")

MISTAKES = Mistakes([*AT_THE_START, *SCORES, *AT_THE_END, *BOOKKEEPING, *CHOICE])
