"""What a full stop at the end of the source changes: the kept Transformer on the test of 2017 (chapter 18).

Nearly all German sentences that it was trained on end with a full stop, and a fifth of the test's do not. Here both
kinds are translated as they are, and with the full stop added or taken away. Differences come with the interval in
which 95 % of them lie when the sentences are resampled. Reads the corpus as ``translate`` does.
"""

import time
from functools import partial
from typing import NamedTuple

from attnbook.data.texts.translation import TESTS, TranslationTask, cut
from attnbook.device import best_device
from attnbook.measure.translation import bleu_counts, resampled_difference, translation_scores
from attnruns.experiments.translate import RECIPES, trained
from attnruns.shared.runner import Experiment, Job, Outcome
from attnruns.shared.translation import ROWS, written_both_ways
from attnruns.shared.weights import stored_seeds

TEST = TESTS[1]
MARKS = (".", "!", "?", '"')  # with which a sentence ends
MODEL = "transformer_de_en"  # of the experiment translate, which does not keep the weights of every seed
FAR_TOO_LONG = 2.0  # words of a translation per word of its reference


def has_end(sentence: str) -> bool:
    """Whether a sentence ends with a mark.

    >>> has_end("Ein Hund."), has_end("Ein Hund")
    (True, False)
    """
    return sentence.rstrip().endswith(MARKS)


def without_end(sentence: str) -> str:
    """A sentence without the marks that it ends with.

    >>> without_end("Ein Hund.")
    'Ein Hund'
    """
    return sentence.rstrip().rstrip("".join(MARKS)).rstrip()


def written_bare(model, data: TranslationTask, sources: list[str]) -> dict[str, list[str]]:
    """Translations greedily and by beam, without the marks at their ends: only the words before are compared."""
    examples = [cut(source, "", data.source_pieces, data.target_pieces) for source in sources]
    return {way: [*map(without_end, lines)] for way, lines in written_both_ways(model, data, examples).items()}


def measured(lines: list[str], wanted: list[str]) -> dict[str, float]:
    """Of translations: BLEU, words per word of the references, and how many are far too long."""
    words = [(len(line.split()), len(reference.split())) for line, reference in zip(lines, wanted, strict=True)]
    return {
        "bleu": translation_scores(lines, wanted).bleu,
        "length_ratio": round(sum(pair[0] for pair in words) / sum(pair[1] for pair in words), 3),
        "far_too_long": sum(written >= FAR_TOO_LONG * there for written, there in words),
    }


def gain(lines: list[str], others: list[str], wanted: list[str]) -> list[float]:
    """BLEU of translations minus BLEU of others of the same sentences, and its interval."""
    ours, theirs = (bleu_counts(those, wanted, lower=False) for those in (lines, others))
    return [round(number, 2) for number in resampled_difference(ours, theirs)]


class Read(NamedTuple):
    """Sentences of one kind: what was translated, greedily and by beam, read with a full stop and without."""

    wanted: list[str]
    with_stop: dict[str, list[str]]
    without: dict[str, list[str]]


def read_both_ways(model, data: TranslationTask, pairs: list[tuple[str, str]]) -> Read:
    """Translate sources with a full stop at their end, and without."""
    sources, wanted = ([*map(without_end, side)] for side in zip(*pairs, strict=True))
    stopped = [f"{source}." for source in sources]
    return Read(wanted, written_bare(model, data, stopped), written_bare(model, data, sources))


def compared(read: Read) -> dict[str, dict]:
    """What both readings are worth, what the full stop gains, and what the beam gains in each."""
    readings = {"read_with": read.with_stop, "read_without": read.without}
    figures: dict[str, dict] = {
        name: {way: measured(lines, read.wanted) for way, lines in ways.items()} for name, ways in readings.items()
    }
    stop = {way: gain(read.with_stop[way], read.without[way], read.wanted) for way in read.without}
    beam = {name: gain(ways["beam"], ways["greedy"], read.wanted) for name, ways in readings.items()}
    return {**figures, "gain_of_stop": stop, "gain_of_beam": beam}


def run(job: Job) -> Outcome:
    """Translate each kind of sentence with and without its end; both together are read with it, and as they are."""
    start, data, model = time.process_time(), RECIPES[job.model].data(), trained(job.model, job.seed).to(best_device())
    pairs = [
        (data.source_pieces.decode(example.source), reference)
        for example, reference in zip(data.tests[TEST], data.references[TEST], strict=True)
    ]
    figures: dict[str, dict] = {}
    both = []
    for kind, ends in (("with", True), ("without", False)):
        some = [pair for pair in pairs if has_end(pair[0]) is ends]
        both.append(read_both_ways(model, data, some))
        words = round(sum(len(without_end(source).split()) for source, _ in some) / len(some), 2)
        figures[kind] = {"sentences": len(some), "source_words": words, **compared(both[-1])}
    figures["all"] = {"sentences": len(pairs), **compared(together(*both))}
    trained_on = [data.source_pieces.decode(example.source) for example in data.task.train]
    share = round(sum(map(has_end, trained_on)) / len(trained_on), 4)
    as_they_are = {test: written_both_ways(model, data, examples) for test, examples in data.tests.items()}
    beams = {test: gain(ways["beam"], ways["greedy"], data.references[test]) for test, ways in as_they_are.items()}
    seconds = round(time.process_time() - start, 1)
    return Outcome({"seconds": seconds, "training_with": share, **figures, "gain_of_beam": beams})


def together(ended: Read, bare: Read) -> Read:
    """Both kinds as one test: with a full stop everywhere; and, as ``without``, where the sentences themselves end."""
    stopped = {way: ended.with_stop[way] + bare.with_stop[way] for way in ended.with_stop}
    as_it_is = {way: ended.with_stop[way] + bare.without[way] for way in ended.with_stop}
    return Read(ended.wanted + bare.wanted, stopped, as_it_is)


EXPERIMENT = Experiment(
    "translate_endings",
    {MODEL: 1},
    run,
    {
        "task": f"multi30k_task(pair), {TEST}",
        "batch": f"{ROWS} sentences side by side",
        "marks": MARKS,
        "far_too_long": FAR_TOO_LONG,
    },
    stored_seeds=partial(stored_seeds, "translate", MODEL),
)
