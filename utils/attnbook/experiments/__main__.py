"""``python -m attnbook.experiments NAME``: run one of the book's experiments."""

import argparse
from pathlib import Path

from attnbook.experiments import (
    complexity,
    decoding_speed,
    distance,
    numbers,
    reading,
    reversal,
    scheduled_sampling,
    scores,
    sharpening,
    single_numbers,
    transformer,
)
from attnbook.experiments.runner import Experiment, run_experiment

MODULES = (
    complexity,
    decoding_speed,
    distance,
    numbers,
    reading,
    reversal,
    scheduled_sampling,
    scores,
    sharpening,
    single_numbers,
    transformer,
)
EXPERIMENTS: dict[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and run what it names."""
    parser = argparse.ArgumentParser(prog="python -m attnbook.experiments", description=__doc__)
    parser.add_argument("name", choices=sorted(EXPERIMENTS), help="which experiment")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="default: 0 1 2")
    parser.add_argument("--models", nargs="+", default=None, help="only these models, added to what is there")
    parser.add_argument("--steps", type=int, default=None, help="another length of training, to try things out")
    parser.add_argument("--workers", type=int, default=2, help="processes side by side, one thread each")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the results")
    options = parser.parse_args(arguments)
    run_experiment(EXPERIMENTS[options.name], options)


if __name__ == "__main__":
    main()
