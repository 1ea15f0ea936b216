"""The live memories of Chapter 20: they begin with the chapter's pairs, and answer what its code answers."""

import pytest
import torch
from browser import chromium
from live_pages import ROOT, answer, asked
from live_said import said

from attnbook.attention import delta_rule, forgetting_attention

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and ATTNBOOK_CHROMIUM names none"),
]
ROBOT, STARTS = ((ROOT / f"tests/helpers/live_{name}.js").read_text("utf-8") for name in ("robot", "starts"))
KINDS = ["full", "window", "bits", "sum", "fade", "delta", "gated"]
KEYS, VALUES = [[1.0, 0], [0, 1], [0.6, 0.8], [0.8, 0.6]], [3.0, 5, 10, 2]
TWICE = [[1.0, 0], [0, 1], [0.6, 0.8], [0.6, 0.8]]  # 10 and then 2 under one key
ON_ONE = [[1.0, 0], [0, 1], [0, 1], [0, 1]]  # 5, 10 and 2 under one key, at right angles to the oldest
COMPUTED = """
    const answers = (kind) => LIVE.remember(kind, GIVEN.keys, GIVEN.values, GIVEN.rate, GIVEN.keep).answers;
    return GIVEN.kinds.map(answers);"""


def attend(queries, keys, values):
    return (1000 * queries @ keys.T).softmax(dim=1) @ values


def in_two_bits(keys):
    low, high = keys.min(), keys.max()
    return ((keys - low) / (high - low) * 3).round() / 3 * (high - low) + low


def gated(keys, values, rate, keep):
    """The state fades and is then corrected, as Gated DeltaNet writes it: S ← α S (I − β k kᵀ) + β v kᵀ."""
    state = torch.zeros(keys.shape[1])
    for key, value in zip(keys, values, strict=True):
        state = keep * state @ (torch.eye(len(key)) - rate * torch.outer(key, key)) + rate * value * key
    return keys @ state


def wanted(keys, values, rate=1.0, keep=0.5):
    """What each memory answers to each key, by PyTorch and the package."""
    k, v = torch.tensor(keys), torch.tensor(values)
    last, faded = torch.zeros(len(k)), torch.zeros(len(k))
    for n, key in enumerate(k):  # a causal rule: the key is the last query
        of = torch.cat([k[1:], key[None]])[None], k[None], v[None, :, None]
        last[n] = delta_rule(*of, rate=torch.full((1, len(k)), rate))[0][0, -1, 0]
        faded[n] = forgetting_attention(*of, keep=torch.full((1, len(k)), keep))[0][0, -1, 0]
    return {
        "full": attend(k, k, v), "window": attend(k, k[-2:], v[-2:]), "bits": attend(k, in_two_bits(k), v),
        "sum": k @ (k.T @ v), "delta": last, "fade": faded, "gated": gated(k, v, rate, keep),
    }  # fmt: skip


@pytest.mark.parametrize(("seed", "rate", "keep"), [(None, 1.0, 0.5), (0, 1.0, 1.0), (1, 0.5, 0.9), (2, 0.2, 0.1)])
def test_each_memory_answers_as_the_code_of_the_chapter(seed, rate, keep, tmp_path):
    keys = KEYS
    if seed is not None:
        drawn = torch.randn(4, 2, generator=torch.Generator().manual_seed(seed))
        keys = torch.nn.functional.normalize(drawn, dim=1).tolist()
    given = {"kinds": KINDS, "keys": keys, "values": VALUES, "rate": rate, "keep": keep}
    found = answer(tmp_path, COMPUTED, given=given, figures=["memories"])
    for kind, answers in zip(KINDS, found, strict=True):
        assert answers == pytest.approx(wanted(keys, VALUES, rate, keep)[kind].tolist(), abs=1e-3), kind


def test_what_it_says_that_one_has_learned_is_what_it_computes(tmp_path):
    given = {"kinds": KINDS, "keys": TWICE, "values": VALUES}
    twice = answer(tmp_path, COMPUTED, given=given, figures=["memories"])
    by_kind = dict(zip(KINDS, twice, strict=True))
    learned = said("memories", "learned")
    assert "Only the delta rule and the gated delta rule answer 2" in learned
    assert by_kind["delta"][3] == pytest.approx(2) == by_kind["gated"][3]
    assert "the window and two bits answer 6, as does the full cache: the mean" in learned
    assert [by_kind[kind][3] for kind in ("window", "bits", "full")] == pytest.approx([6] * 3)
    assert "The sum adds both values and a share of the others" in learned
    assert by_kind["sum"][3] == pytest.approx(10 + 2 + 0.6 * 3 + 0.8 * 5)
    assert "the oldest key reads 3 with the delta rule" in learned
    assert "and 0.38 with the fading sum" in learned
    on_one = dict(
        zip(KINDS, answer(tmp_path, COMPUTED, given=given | {"keys": ON_ONE}, figures=["memories"]), strict=True)
    )
    assert [on_one[kind][0] for kind in ("delta", "fade")] == pytest.approx([3, 3 * 0.5**3])


def test_it_begins_with_the_pairs_of_the_chapter_and_a_key_is_stored_twice_where_it_meets_another(tmp_path):
    start = dict(asked(ROOT / "chapters/20_attention_today.ipynb"))["memories"]
    script = """
        const first = now(), radios = all("input[type=radio]"), fourth = () => all("[role=slider]")[3];
        const at = () => all("[role=slider]").map((one) => one.getAttribute("aria-valuetext").split(", reads")[0]);
        const begin = at();
        slide("α", 1);
        const kept = now().rows[6];
        slide("β", 0.5);
        const half = now().rows[5];
        slide("β", 1);
        for (let n = 0; n < 20 && at()[3] !== at()[2]; n++) { typed(fourth(), "ArrowUp"); }
        const twice = now();
        press("oldest pair becomes the newest");
        const turned = texts(".live-table thead th");
        radios[0].click();
        const full = now().said;
        press("one more pair"); press("one more pair"); press("one more pair");
        const columns = () => texts(".live-table thead th").length - 1, most = columns();
        Array.from({ length: 9 }, () => press("one fewer"));
        return { begin, first, kept, half, twice, turned, full, most, fewest: columns() };"""
    found = answer(tmp_path, ROBOT + STARTS + script, given={"name": "memories", "start": start}, figures=["memories"])
    assert found["begin"] == ["at 1.00, 0.00", "at 0.00, 1.00", "at 0.60, 0.80", "at 0.80, 0.60"]
    rows = [[cell.replace("\u202f", " ") for cell in row] for row in found["first"]["rows"]]
    assert rows[0] == ["full cache", "3.00 ✓", "5.00 ✓", "10.00 ✓", "2.00 ✓"]
    assert rows[5] == ["delta", "−0.43 ✗", "3.90 ✗", "2.87 ✗", "2.00 ✓"]
    assert rows[6] == ["gated", "0.50 ✗", "2.67 ✗", "2.43 ✗", "2.00 ✓"]
    begins = "delta: 1 of 4 keys read their newest value. The orange line is the state ("
    assert found["first"]["said"].startswith(begins)
    assert found["kept"][1:] == found["first"]["rows"][5][1:]
    assert found["half"] == ["delta", *(f"{of}\u202f✗" for of in ("1.99", "4.11", "4.48", "4.05"))]
    assert found["twice"]["said"].endswith("The key of 10 and 2 reads 2.00.")
    assert found["twice"]["rows"][5][3:] == ["2.00", "2.00\u202f✓"]  # what was replaced is neither right nor wrong
    assert found["turned"] == ["oldest first", "5", "10", "2", "3"]
    assert found["full"].startswith("full cache: ")
    assert (found["most"], found["fewest"]) == (6, 2)
