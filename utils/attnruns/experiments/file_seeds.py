"""The models in one file of chapters 4 and 6 with other seeds: the chapters train the first.

What is trained is the file itself, as it stands in the chapter, with another seed. It stays on the CPU, as the file
does.
"""

from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

STEPS = {"04_luong": 300, "06_captioning": 300}
# What is replaced in a file, once or more, with the seed and the steps of the job.
REPLACED = {
    "04_luong": {"random.seed(0)": "random.seed({seed})", "torch.manual_seed(0)": "torch.manual_seed({seed})",
                 "steps=300": "steps={steps}"},
    "06_captioning": {"seed=0, steps=300": "seed={seed}, steps={steps}"},
}  # fmt: skip


def code(name: str, seed: int, steps: int) -> str:
    """The file of a chapter, with this seed and so many steps."""
    return file_of(name, chosen(REPLACED, name), seed, steps)


def run(job: Job) -> Outcome:
    """Run one file, and return what it found."""
    names, spent = run_file(code(job.model, job.seed, job.steps))
    seconds = {"seconds": spent}  # of the processor, for all the models of the file
    if job.model == "04_luong":
        shares = {name: {str(n): share for n, share in of.items()} for name, of in names["shares"].items()}
        return Outcome(shares | seconds)
    found = {name: {"exact": exact, "pointing": at} for name, (exact, at) in names["found"].items()}
    return Outcome(found | seconds)


SETTINGS = {
    "task": {"04_luong": "lists of one to five numbers", "06_captioning": "canvases with two digits"},
    "batch": {"04_luong": 64, "06_captioning": 32},
    "learning_rate": {"04_luong": 8e-3, "06_captioning": 4e-3},
    "warmup": {"04_luong": 90, "06_captioning": 0},
    "max_grad_norm": 1.0,
}
EXPERIMENT = Experiment("file_seeds", STEPS, run, SETTINGS, on_cpu=True)
