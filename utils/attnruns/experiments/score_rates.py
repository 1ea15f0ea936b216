"""Five scores in the layer of :mod:`attnruns.experiments.square_root`, each at six learning rates.

At one learning rate a score may be ahead only because this rate suits it. So each score is trained at each rate, and
the scores can be compared at the best rate of each. Two more exchange the starts of the dot product and the scaled one:
their first scores are those of the other. The model is small, and stays on the CPU.
"""

from torch import Tensor

from attnbook.attention import Cosine, General, Score
from attnruns.experiments import square_root
from attnruns.experiments.square_root import Library, Questions
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
STARTS = {"dot_small_start": "small_start", "scaled_dot_large_start": "large_start"}
LIBRARIES = {"dot": "plain", "scaled_dot": "root", "additive": "additive"} | STARTS  # these the layer has itself
SCORES = (*LIBRARIES, "cosine", "general")
WIDTH = 64  # features of a query and a key; square_root has 1,024 as well, at four rates
STEPS = {f"{score}_{WIDTH}": 300 for score in SCORES}


class Scored(Library):
    """The layer with a score of the package between its learned queries and keys of ``width`` features.

    ``general``: qᵀ W k, W as PyTorch starts a linear layer. ``cosine``: with a learned β that starts at 10.
    """

    def __init__(self, score: str, width: int) -> None:
        super().__init__("plain", width)
        scores = {"general": lambda: General(width, width), "cosine": lambda: Cosine(beta=10.0, learn_beta=True)}
        self.compare: Score = chosen(scores, score)()

    def scores(self, asked: Questions) -> Tensor:
        """The score of each label: ``(B, Tk)``."""
        table = self.compare(self.to_query(self.wishes), self.to_key(self.labels))  # (wishes, labels)
        return table[asked.wishes[:, None], asked.labels]


def make(score: str, width: int) -> Library:
    """The layer with the score of that name."""
    return Library(LIBRARIES[score], width) if score in LIBRARIES else Scored(score, width)


def run(job: Job) -> Outcome:
    """Train the layer with the score of that name at each learning rate."""
    return square_root.by_rate(make, job, STEPS, RATES)


SETTINGS = square_root.SETTINGS | {"learning_rate": ", ".join(map(str, RATES)) + ", Adam"}
EXPERIMENT = Experiment("score_rates", STEPS, run, SETTINGS, trainings=len(RATES), on_cpu=True)
