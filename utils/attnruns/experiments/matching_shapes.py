"""Chapter 16's file with other seeds: which of three layers lets a shape find the colour of its partner, by distance.

What is trained is the file itself, as it stands in the chapter, with another seed. In "same_positions" the open shape
lies always at the upper left and its partner always at the lower right, so that a fixed mixture can know where to read.
The training stays on the CPU, as the file does.
"""

from attnruns.shared.chapter_file import file_of, run_file
from attnruns.shared.recipes import chosen
from attnruns.shared.runner import Experiment, Job, Outcome

CHAPTER = "16_sagan"
OTHER = ["vit-strokes"]  # the cell of the file that trains its vision Transformer
STEPS = {"any_positions": 300, "same_positions": 300}
SEEDED = {"torch.manual_seed(0)": "torch.manual_seed({seed})", "steps=300": "steps={steps}"}
# What is replaced in the file, with the seed and the steps of the job.
REPLACED = {
    "any_positions": SEEDED,
    "same_positions": SEEDED | {
        "positions = torch.rand(count, SIDE**2).argsort(dim=1)[:, :5]":
            "positions = torch.cat([torch.tensor([[0, SIDE**2 - 1]]).expand(count, -1), "
            "1 + torch.rand(count, SIDE**2 - 2).argsort(dim=1)[:, :3]], dim=1)",
    },
}  # fmt: skip


def code(name: str, seed: int, steps: int) -> str:
    """The file of the chapter, with this seed, so many steps, and the positions of this name."""
    return file_of(CHAPTER, chosen(REPLACED, name), seed, steps, without=OTHER)


def run(job: Job) -> Outcome:
    """Run the file, and return what its networks found and how large the layers are that join positions."""
    names, spent = run_file(code(job.model, job.seed, job.steps))
    figures = {
        layer: {
            "right": round(share, 4),
            "by_distance": {str(distance): round(part, 4) for distance, part in by_distance.items()},
            "parameters": sum(part.numel() for part in names["models"][layer].mix.parameters()),
        }
        for layer, (share, by_distance) in names["found"].items()
    }
    return Outcome(figures | {"seconds": spent})  # of the processor, for the three networks


SETTINGS = {
    "task": "the colour of an open shape, from its partner among five shapes", "batch": 64, "learning_rate": 6e-3,
    "warmup": 0, "max_grad_norm": None, "pictures_of_a_test": 4000,
    "test": "each of the four colours occurs once besides the open shape",
}  # fmt: skip
EXPERIMENT = Experiment("matching_shapes", STEPS, run, SETTINGS, trainings=3, on_cpu=True)
