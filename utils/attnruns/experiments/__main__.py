"""``python -m attnbook.experiments NAME``: run one of the book's experiments."""

import argparse
import importlib
import os
import pkgutil
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from attnbook.device import VARIABLE, best_device
from attnbook.training import parallel, process_group
from attnruns import experiments
from attnruns.shared.overview import details, overview, unknown
from attnruns.shared.pool import CANCELLED, Stopped
from attnruns.shared.record import Refusal, program
from attnruns.shared.runner import Experiment, check_models, run_experiment, seeds_of

PROGRAM = "python -m attnbook.experiments"
ABOUT = """\
Run one of the book's experiments: train its models with several seeds, and
measure them. The results go to scratch/, where you may try what you like.
What is finished stays: the same command again goes on where it stopped.
With torchrun --nproc_per_node=2 in place of python, two processes share the
batches of each training.
"""


def find_experiments() -> dict[str, Experiment]:
    """The ``EXPERIMENT`` of every module of this folder, by the experiment's name."""
    listed = pkgutil.iter_modules(experiments.__path__)
    names = [module.name for module in listed if not (module.ispkg or module.name.startswith("_"))]
    found = [importlib.import_module(f"{experiments.__name__}.{name}").EXPERIMENT for name in names]
    return {experiment.name: experiment for experiment in found}


EXPERIMENTS = find_experiments()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence, without the usage in front of it."""
        self.exit(2, f"{message.rstrip('.')}.\n")


def _parser() -> _Parser:
    parser = _Parser(
        prog=PROGRAM,
        usage="%(prog)s NAME [options]",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("name", nargs="?", metavar="NAME", help="which experiment")
    add("-h", "--help", action="store_true", help="this text; after a NAME, more about that experiment")
    add("--seeds", "--seed", type=int, nargs="+", metavar="SEED", help="default: 0 1 2, or those of stored weights")
    add("--models", "--model", nargs="+", metavar="MODEL", help="only these models, added to what is there")
    add("--pair", metavar="PAIR", help="of languages, such as de-en, where an experiment has several")
    add("--steps", type=int, help="another length of training, to try things out")
    add("--device", metavar="DEVICE", help="cpu, cuda, cuda:1 or mps; default: the best one that is there")
    add("--workers", type=int, default=2, help="processes side by side, one thread each; default: 2")
    add("--out", type=Path, metavar="FOLDER", help="another folder for the results; default: scratch")
    add("--record", action="store_true", help="for authors: write to results/, from a commit without changes")
    return parser


def _help(parser: _Parser, name: str | None) -> str:
    parser.epilog = details(EXPERIMENTS[name]) if name else overview(EXPERIMENTS)
    if name:
        parser.usage, parser.description = f"{PROGRAM} {name} [options]", None
    return parser.format_help()


def _check(options) -> None:
    """Raise Refusal for what cannot be run, and fill in the seeds where none are asked for."""
    if options.name is None:
        raise Refusal(f"Say which experiment: {', '.join(sorted(EXPERIMENTS))}; --help tells what each is.")
    if options.name not in EXPERIMENTS:
        raise Refusal(unknown(options.name, EXPERIMENTS))
    if options.pair is not None:
        options.models = _models_of_pair(EXPERIMENTS[options.name], options.models, options.pair)
    check_models(EXPERIMENTS[options.name], options.models)
    options.seeds = seeds_of(EXPERIMENTS[options.name], options.seeds)
    _choose_device(EXPERIMENTS[options.name], options.device)
    if options.workers < 1:
        raise Refusal(f"--workers must be at least 1, got {options.workers}.")
    if options.steps is not None and options.steps < 1:
        raise Refusal(f"--steps must be at least 1, got {options.steps}.")


def _choose_device(experiment: Experiment, wish: str | None) -> None:
    """Make the device that is asked for the best one, here and in the processes that train."""
    if wish is not None:
        os.environ[VARIABLE] = wish
    try:
        device = best_device()
    except ValueError as error:
        raise Refusal(f"{error}.") from error
    if experiment.on_cpu and wish is not None and device.type != "cpu":
        raise Refusal(f"{experiment.name} measures the CPU and runs nowhere else; leave --device {wish} out.")


def _models_of_pair(experiment: Experiment, models: list[str] | None, pair: str) -> list[str]:
    """The models, all when none is named, for one pair of languages: ``transformer`` and de-en: transformer_de_en."""
    ending = f"_{pair.replace('-', '_')}"
    there = [model for model in experiment.steps if model.endswith(ending)]
    if not there:
        raise Refusal(f"{experiment.name} has no models for the pair {pair}.")
    return there if models is None else [model.removesuffix(ending) + ending for model in models]


def _command(arguments: list[str]) -> str:
    words = subprocess.list2cmdline(arguments) if os.name == "nt" else shlex.join(arguments)
    return f"{program()} {words}"


def main(arguments: list[str] | None = None) -> int:
    """Read the command line, run what it names, and return the status: 0 done, 1 a failure, 130 cancelled.

    Raises:
        SystemExit: with status 2 for what cannot be run.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Greek letters
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.help and options.name in (None, *EXPERIMENTS):
        print(_help(parser, options.name), end="")
        return 0
    try:
        _check(options)
        with process_group():
            return _run(options, arguments)
    except Refusal as error:
        parser.error(str(error))
    except KeyboardInterrupt:  # before the first process was started
        print("Cancelled. Nothing was started.", file=sys.stderr)
        return CANCELLED


def _run(options, arguments: list[str]) -> int:
    """Run the experiment; the first process says how it ended."""
    tell = print if parallel.rank() == 0 else lambda *_, **__: None
    try:
        path = run_experiment(EXPERIMENTS[options.name], options)
    except Stopped as error:
        if error.__cause__ is not None:
            tell(error.__cause__, file=sys.stderr)
        tell(f"{error}\nTo go on: {_command(arguments)}", file=sys.stderr)
        return error.status
    tell(f"The results are in {path}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
