"""``python -m attnbook.experiments NAME``: run one of the book's experiments."""

import argparse
import importlib
import pkgutil
from pathlib import Path

from attnbook import experiments
from attnbook.experiments.runner import Experiment, run_experiment


def find_experiments() -> dict[str, Experiment]:
    """Every module of this folder that has an ``EXPERIMENT``, by the experiment's name."""
    names = [module.name for module in pkgutil.iter_modules(experiments.__path__) if not module.name.startswith("_")]
    modules = [importlib.import_module(f"{experiments.__name__}.{name}") for name in names]
    found = [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]
    return {experiment.name: experiment for experiment in found}


EXPERIMENTS = find_experiments()


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
