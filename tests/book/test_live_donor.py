"""The live donor of Chapter 16: the generator draws as PyTorch's does, and what the figure says is what it computes."""

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked, rounded_as_packed
from live_said import instead, said

from attnbook.attention import attend, dot
from attnbook.data.pictures.digit_pairs import crop_digits
from attnbook.measure.images import nearest_digits
from attnbook.seeding import generator
from attnruns.experiments import digit_pairs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
DRAWN = """
    const model = LIVE.Generator(await LIVE.load("donor"));
    const [x, donor] = GIVEN.noise.map((noise) => model.map(0, Float32Array.from(noise)));
    const { image, weights } = model.draw(x, LIVE.readsOfDonor(GIVEN.half, x, donor));
    return { image: Array.from(image), weights: weights.map((row) => Array.from(row)) };"""
NAMED = """
    const model = LIVE.Generator(await LIVE.load("donor"));
    return Array.from({ length: 40 }, (_, n) => {
      const { image } = model.draw(model.map(n + 1));
      return { image: Array.from(image), ones: [0, 1].map((end) => LIVE.isOne(image, end)) };
    });"""
TAKEN = """
    const model = LIVE.Generator(await LIVE.load("donor"));
    const maps = Array.from({ length: 40 }, (_, n) => model.map(n + 1)), plain = maps.map((x) => model.draw(x).image);
    return ["right", "left"].map((half, side) => {
      const end = 1 - side, counts = [0, 0];
      for (let n = 0; n < 39; n++) {
        const given = LIVE.isOne(plain[n + 1], 1 - end);
        if (given !== LIVE.isOne(plain[n], end)) {
          const { image } = model.draw(maps[n], LIVE.readsOfDonor(half, maps[n], maps[n + 1]));
          counts[0] += LIVE.isOne(image, end) === given;
          counts[1] += 1;
        }
      }
      return counts.join(" of ");
    });"""


@torch.no_grad()
def drawn(model, x, donor, half):
    """The canvas, and the weights of each position, if one half attends to the other half of the donor."""
    left = torch.arange(64) % 16 < 8
    layer, rows = model.attention, {"none": torch.zeros(64, dtype=torch.bool), "left": left, "right": ~left}[half]
    query, *own = (part(x).flatten(2).mT for part in (layer.query, layer.key, layer.value))
    other = [part(donor).flatten(2).mT for part in (layer.key, layer.value)]
    replaced = (left if half == "right" else ~left)[:, None]
    plain = attend(query, *own, score=dot)
    given = attend(query, *(torch.where(replaced, a, b) for a, b in zip(other, own, strict=True)), score=dot)
    context, weights = (torch.where(rows[:, None], b, a) for a, b in zip(plain, given, strict=True))
    y = layer.gamma * layer.output(context.mT.unflatten(2, (4, 16))) + x
    image = model.output(model.third(torch.nn.functional.interpolate(y, scale_factor=2))).sigmoid()
    return image.flatten(), weights[0]


@torch.no_grad()
@pytest.mark.parametrize("half", ["none", "right", "left"])
def test_the_generator_draws_as_pytorch_does_with_and_without_a_donor(half, tmp_path):
    model = rounded_as_packed(digit_pairs.trained("both"), "donor").generator.eval()
    noise = torch.randn(2, 16, 2, 8, generator=generator(3))
    given = {"noise": noise.flatten(1).tolist(), "half": half}
    found = answer(tmp_path, DRAWN, ["donor"], given, ["donor"])
    image, weights = drawn(model, model.hidden(noise[:1]), model.hidden(noise[1:]), half)
    torch.testing.assert_close(torch.tensor(found["image"]), image, atol=5e-3, rtol=0)
    torch.testing.assert_close(torch.tensor(found["weights"]), weights, atol=5e-3, rtol=0)


def test_a_digit_is_named_by_its_ink_as_by_the_nearest_image(tmp_path):
    found = answer(tmp_path, NAMED, ["donor"], figures=["donor"])
    images = torch.tensor([one["image"] for one in found]).view(-1, 1, 8, 32)
    labels, _ = nearest_digits(crop_digits(images))
    same = labels == torch.tensor([one["ones"] for one in found]).long()
    assert same.float().mean() > 0.95
    assert 0.3 < torch.tensor([one["ones"] for one in found]).float().mean() < 0.7


def test_the_left_digit_decides_as_it_is_said(tmp_path):
    right, left = answer(tmp_path, TAKEN, ["donor"], figures=["donor"])
    assert f"The right digit takes the donor’s in {right}, and the left one in {left}." in said("donor", "learned")
    table = instead("16_sagan_evidence", "donor")
    assert f"| the right half, to the left half | {right} |" in table
    assert f"| the left half, to the right half | {left} |" in table


def test_the_size_is_that_of_the_generator():
    count = sum(part.numel() for part in digit_pairs.build("both").generator.parameters())
    assert f"{round(count, -3):,} numbers" in said("donor", "about")


def test_it_begins_with_two_canvases_of_other_digits_and_lets_either_half_attend_to_the_donor(tmp_path):
    start = dict(asked(ROOT / "chapters/16_sagan_evidence.ipynb"))["donor"]
    script = """
        const before = now().said, choose = (n) => { all("input[type=radio]")[n].click(); return now().said; };
        return [before, choose(0), choose(2)];"""
    given = {"name": "donor", "start": start}
    right, neither, left = answer(tmp_path, ROBOT + STARTS + script, ["donor"], given, ["donor"])
    assert "The canvas has a zero and a zero, the donor a one and a one. Both halves" in neither
    assert "and now there is a zero and a one. The right digit has changed." in right
    assert "and now there is a zero and a zero. No digit has changed its class." in left
