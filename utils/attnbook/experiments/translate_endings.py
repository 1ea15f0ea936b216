"""What a full stop at the end of the source changes: the kept Transformer on the test of 2017 (chapter 18).

Nearly all German sentences that it was trained on end with a full stop, and a fifth of the test's do not. Here both
kinds are translated as they are, and with the full stop added or taken away. Reads the corpus as ``translate`` does.
"""

import time
from functools import partial

from attnbook.data.translation import TESTS, TranslationTask, cut
from attnbook.experiments.shared.runner import Experiment, Job, Outcome
from attnbook.experiments.shared.translation import ROWS, written_both_ways
from attnbook.experiments.shared.weights import stored_seeds
from attnbook.experiments.translate import RECIPES, trained
from attnbook.translation_metrics import translation_scores

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


def measured(model, data: TranslationTask, sources: list[str], references: list[str]) -> dict[str, dict[str, float]]:
    """Of sources that a model translates greedily and by beam: BLEU, words per word of the references, far too long.

    Marks at the end count neither in a translation nor in a reference, so that only the words before them are compared.
    """
    examples = [cut(source, "", data.source_pieces, data.target_pieces) for source in sources]
    wanted, found = [without_end(reference) for reference in references], {}
    for way, lines in written_both_ways(model, data, examples).items():
        lines = [without_end(line) for line in lines]
        words = [(len(line.split()), len(reference.split())) for line, reference in zip(lines, wanted, strict=True)]
        found[way] = {
            "bleu": translation_scores(lines, wanted).bleu,
            "length_ratio": round(sum(pair[0] for pair in words) / sum(pair[1] for pair in words), 3),
            "far_too_long": sum(written >= FAR_TOO_LONG * there for written, there in words),
        }
    return found


def run(job: Job) -> Outcome:
    """Translate each kind of sentence with and without its end."""
    start, data, model = time.process_time(), RECIPES[job.model].data(), trained(job.model, job.seed)
    pairs = [
        (data.source_pieces.decode(example.source), reference)
        for example, reference in zip(data.tests[TEST], data.references[TEST], strict=True)
    ]
    figures = {}
    for kind, rows in (
        ("with", [pair for pair in pairs if has_end(pair[0])]),
        ("without", [pair for pair in pairs if not has_end(pair[0])]),
    ):
        sources, references = [without_end(source) for source, _ in rows], [reference for _, reference in rows]
        figures[kind] = {
            "sentences": len(rows),
            "source_words": round(sum(len(source.split()) for source in sources) / len(rows), 2),
            "read_with": measured(model, data, [f"{source}." for source in sources], references),
            "read_without": measured(model, data, sources, references),
        }
    trained_on = [data.source_pieces.decode(example.source) for example in data.task.train]
    share = round(sum(map(has_end, trained_on)) / len(trained_on), 4)
    return Outcome({"seconds": round(time.process_time() - start, 1), "training_with": share, **figures})


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
