"""Lab 1, second half: from states to sentences, and how many of them are right."""

import torch

from misread.exercise import About, Exercise

from ..fakes.decoder import fake_decoder


def last_states(states, lengths):
    """Each sentence's own last state: states (B, Tk, D), lengths (B,) -> (B, D)."""
    rows = torch.arange(len(states), device=states.device)  # (B,)
    return states[rows, lengths - 1]  # (B, D)


def _sentences(draw):
    batch, length, dim = draw.sizes(3)
    yield draw.normal(batch, length, dim), draw.lengths(batch, length)
    yield draw.normal(batch + 1, length + 2, dim), draw.lengths(batch + 1, length)  # no row is full
    yield draw.normal(1, 3, 1), torch.tensor([2])  # a squeeze of all axes takes too many here
    yield draw.normal(3, 3, 2), draw.lengths(3, 3)  # rows and steps mixed up give values here, no error


LAST_STATES = Exercise(
    last_states,
    cases=_sentences,
    about=About(points=2, minutes=12, difficulty=2, read_again="The encoder: a state that is updated word by word"),
)

must = LAST_STATES.properties
must(
    "one state of each sentence", lambda result, states, lengths: (states == result[:, None]).all(2).any(1).all()
).says("""
    Row b of the result must be one of the states of sentence b, unchanged: the one after its last word.""")

wrong = LAST_STATES.mistakes
wrong("one position too far", {"lengths - 1": "lengths.clamp(max=states.shape[1] - 1)"}).says("""
    You took the state at position `lengths`, which stands behind the last word. Positions are counted from 0, so the
    last of n words stands at n − 1.""")
wrong("the last column", "return states[:, -1]").says("""
    You took the last position of every row. In a sentence shorter than its row, this state has read padding after the
    last word. The last word of a sentence stands at position `lengths - 1`, which differs from row to row.""")
wrong("one step too far", {"lengths - 1": "lengths"}).says("""
    You indexed the positions with `lengths`. Positions count from 0, so the last of n words stands at position n − 1.
    Position n holds padding, or lies outside of the tensor.""")
wrong("one step too early", {"lengths - 1": "lengths - 2"}).says("""
    You took the state before the last word. Positions count from 0, so the last of n words stands at position n − 1,
    and position n − 2 holds the word before it.""")
AT = "torch.arange(states.shape[1], device=states.device)"
wrong("a mask one step too far", f"return states[{AT} == lengths[:, None]]").says("""
    Your mask is True at position `lengths`, which stands behind the last word, and nowhere in a sentence that fills its
    row. Positions count from 0, so the last word stands at `lengths - 1`.""")
wrong("the states of all words", f"return states[{AT} < lengths[:, None]]").says("""
    You returned the states of all real words, one below the other. Of each sentence only the state after its last word
    is wanted: one row per sentence.""")
wrong("only the first feature", "return states.gather(1, (lengths - 1).view(-1, 1, 1))[:, 0]").says("""
    Your result holds only the first of the D features. The result of `gather` has the shape of its index, so the index
    must be (B, 1, D): use `expand`, or index both axes with tensors.""")
wrong("counted from the end", {"lengths - 1": "-lengths"}).says("""
    You indexed the positions with `-lengths`, which counts back from the end of the row. But a row may end with
    padding, so count from the front: the last word stands at position `lengths - 1`.""")
wrong("every row with every length", "return states[:, lengths - 1]").says("""
    You wrote `states[:, lengths - 1]`, which takes the positions of all B sentences in each row and returns (B, B,
    D). Row b needs only its own length. Index both axes, the first with `torch.arange(B)`, so that torch pairs
    them.""")
wrong("positions taken for sentences", "return states[lengths - 1]").says("""
    You wrote `states[lengths - 1]`, which uses the lengths as numbers of sentences, because a single index applies
    to axis 0. The positions are on axis 1, so index both axes: `torch.arange(B)` for the sentences, then the
    positions.""")
wrong("batch and time swapped", {"states[rows, lengths - 1]": "states[lengths - 1, rows]"}).says("""
    You indexed the positions first. In this book the batch comes first: axis 0 of `states` is the sentence, and axis
    1 is the position.""")


def greedy_decode(step, state, bos, eos, max_length):
    """Write the likeliest word at each step: -> (B, L), L <= max_length; an ended sentence repeats eos."""
    token = torch.full((len(state),), bos, device=state.device)  # (B,)
    ended, words = torch.zeros_like(token, dtype=torch.bool), []
    for _ in range(max_length):
        logits, state = step(token, state)  # (B, V)
        token = logits.argmax(-1).masked_fill(ended, eos)  # (B,)
        ended = ended | (token == eos)
        words.append(token)
        if ended.all():
            break
    return torch.stack(words, dim=1)  # (B, L)


def _decoders(draw):
    batch, length = draw.sizes(2, low=3)
    bos, eos = (1, 2) if draw.number == 0 else (8, 5)
    decoder = fake_decoder(draw, batch, length + 2, 9 + draw.number, bos, eos)
    yield decoder, decoder.start(), bos, eos, length + 1
    for ends, lower in ([2], 9), ([0] * 3, 0), ([3, 1, 2], 9):  # one sentence; all end with the first word; all end
        decoder = fake_decoder(draw, len(ends), 6, 9 + draw.number, bos, eos, ends)
        decoder.noise -= lower  # by 9: no logit is positive
        yield decoder, decoder.start(), bos, eos, 5


def _shortest(result, step, state, *others):
    """Stopping when all have ended is as right as repeating the end symbol: equal columns at the end count once. (Where
    words were stacked on the wrong axis, sentences are columns.)"""
    if not isinstance(result, torch.Tensor) or result.dim() != 2 or len(state) not in result.shape:
        return result
    words = result if len(result) == len(state) else result.mT
    while words.shape[1] > 1 and (words[:, -2:] == words[0, -1]).all():
        words = words[:, :-1]
    return words if len(result) == len(state) else words.mT


def _ended(result, eos):
    return (result == eos).long().cumsum(1) > 0  # (B, L), True from the first end symbol on


GREEDY_DECODE = Exercise(
    greedy_decode,
    cases=_decoders,
    canonical=_shortest,
    about=About(points=3, minutes=30, difficulty=3, read_again="Using the model: greedy decoding"),
)

must = GREEDY_DECODE.properties
must(
    "eos is repeated", lambda result, step, state, bos, eos, limit: (result[_ended(result, eos)] == eos).all()
).says("""
    After its end symbol, a sentence must repeat this symbol up to the last column.""")
must("the first word is right", lambda result, step, *others: (result[:, 0] == step.script[:, 0]).all()).says("""
    The first column of the result must hold the words that the decoder writes after it has read `bos`. `bos` itself is
    an input of the decoder, and no part of the result.""")

wrong = GREEDY_DECODE.mistakes
ONE_LESS = {
    "range(max_length)": "range(1, max_length)",
    "return torch.stack": "words = words or [token[:0]]\n    return torch.stack",
}
wrong("bos counted as a word", ONE_LESS).says("""
    You wrote max_length − 1 words at most, as if bos were one of them. bos is given to the decoder and is not part of
    the result, so it does not count.""")
APPEND, STOP = "words.append(token)", "if ended.all():\n            break"
wrong("bos kept", {"dtype=torch.bool), []": "dtype=torch.bool), [token]"}).says("""
    The first column of your result is `bos`. `bos` is the decoder's first *input*, and the decoder did not write it.
    Begin with an empty list, and append a word only after a step.""")
wrong("one word for all sentences", {"argmax(-1)": "argmax()"}).says("""
    You called `argmax()` without an axis, which returns one position among the logits of all sentences together. Each
    sentence needs the largest of its own V logits: `argmax(-1)`.""")
wrong("logits below 0 passed over", {"logits.argmax": "logits.clamp(min=0).argmax"}).says("""
    Where all logits of a step are negative, you take word 0. Logits may be any numbers, and the largest of negative
    ones counts, too. A search in a loop begins with the first logit or with −∞ and not with 0; `argmax` needs no
    beginning.""")
wrong("words after the end", {".masked_fill(ended, eos)": ""}).says("""
    One of your sentences goes on with other words after its end symbol. The decoder writes a word at every step, so
    you must remember which sentences have ended, and replace their words by `eos`.""")
wrong("words after the end, up to max_length", {".masked_fill(ended, eos)": "", f"\n        {STOP}": ""}).says("""
    Your sentences go on after their end symbols, up to `max_length` words. The decoder writes a word at every step,
    so you must remember which sentences have ended, and replace their later words by `eos`.""")
wrong("the first to finish stops all", {"ended.all()": "ended.any()"}).says("""
    You stopped as soon as one sentence had ended, so the other sentences were cut off. Stop when all sentences have
    ended, for which `ended.all()` is the condition.""")
wrong("stopped before the last end symbol", {f"{APPEND}\n        {STOP}": f"{STOP}\n        {APPEND}"}).says("""
    You stopped before the last word was appended, so the last end symbol is missing. The end symbol belongs to the
    result: append the words of a step first, and then decide whether to stop.""")
wrong("end symbol overwritten", {APPEND: "words.append(token.masked_fill(ended, 0))"}).says("""
    You marked a sentence as ended before you appended its word, and its end symbol became 0. The end symbol belongs
    to the result, and an ended sentence repeats it.""")
wrong("only one word", {"range(max_length)": "range(1)"}).says("""
    Your result holds one word of each sentence. Go on until all sentences have ended, up to `max_length` words: does
    `return` stand in the loop, where it belongs behind it?""")
FILLED, RETURN = {".masked_fill(ended, eos)": ".masked_fill(ended, 0)"}, "return torch.stack"
TO_THE_END = {RETURN: f"words += [0 * token] * (max_length - len(words))\n    {RETURN}"}
wrong("0 after the end", FILLED).says("""
    You wrote 0 after the end symbol of a sentence. In the result of this exercise an ended sentence repeats `eos`, so
    fill with `eos`.""")
wrong("0 after the end, up to max_length", FILLED | TO_THE_END).says("""
    Your result is `max_length` words wide and holds 0 wherever a sentence has ended. An ended sentence repeats `eos`:
    begin with a tensor that is filled with `eos` and not with zeros.""")
wrong("0 after the last end", TO_THE_END).says("""
    Behind the step at which the last sentence ended, your result holds 0. Stop there, or repeat `eos` up to
    `max_length`, for example in a tensor that was filled with `eos` from the beginning.""")
wrong("joined into one row", {"torch.stack(words, dim=1)": "torch.cat(words)"}).says("""
    You joined the words of all steps into one long row with `cat`, which adds no axis. `torch.stack(words, dim=1)`
    makes one column per step, (B, L).""")
wrong("end symbol taken to be 2", {"(token == eos)": "(token == 2)"}).says("""
    A sentence of yours ends at the word with number 2, whatever `eos` is. The number of the end symbol is given by
    the argument `eos`, and here it is another one.""")
wrong("state not kept", {"logits, state = step": "logits, _ = step"}).says("""
    You gave `step` the state of the beginning at every step, so that it forgot the words before the last one. Keep the
    state that `step` returns for the next step: logits, state = step(…).""")
wrong("always reads bos", {"step(token, state)": "step(torch.full_like(token, bos), state)"}).says("""
    You give `bos` to the decoder at every step. Only its first input is `bos`. At each later step it reads the word
    that it wrote at the step before.""")
