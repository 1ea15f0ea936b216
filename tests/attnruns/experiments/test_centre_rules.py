"""Rules for where chapter 4's file attends: they start from the file, and find the centres that they say."""

import pytest
import torch
from experiment_runs import checked_run

from attnruns.experiments import centre_rules
from attnruns.results import load_result
from attnruns.shared import chapter_file
from attnruns.shared.runner import Job


@pytest.fixture(scope="module")
def file():
    """What the chapter's file defines."""
    return chapter_file.run_file(centre_rules.code(0))[0]


def attention(file, name):
    """A rule's attention with the same random numbers for each rule."""
    torch.manual_seed(0)
    return centre_rules.attention_of(name, file["Attention"])(8, name in centre_rules.WINDOWS).eval()


def given():
    """A state, annotations, and the lengths of two sentences; and the last centres."""
    g = torch.Generator().manual_seed(1)
    return (
        torch.randn(2, 8, generator=g),
        torch.randn(2, 9, 8, generator=g),
        torch.tensor([9, 6]),
        torch.tensor([1.5, 5]),
    )


def test_the_file_is_the_chapters_up_to_its_trainings_and_has_the_seed():
    assert "random.seed(7)" in centre_rules.code(7)
    assert "models = " not in centre_rules.code(7)


@torch.no_grad()
def test_walking_is_the_files_own_window(file):
    s, h, S, p = given()
    torch.manual_seed(0)
    own = file["Attention"](8, True)
    for ours, theirs in zip(attention(file, "walking")(s, p, h, S), own(s, p, h, S), strict=True):
        assert torch.allclose(ours, theirs)


@torch.no_grad()
def test_each_rule_finds_its_centre(file):
    s, h, S, p = given()
    for name in set(centre_rules.WINDOWS) - {"oracle", "scattered"}:
        layer = attention(file, name)
        learned = layer.v_p(torch.tanh(layer.W_p(s)))[:, 0]
        wanted = {
            "local_m": (further := torch.tensor([2.5, 5])),  # by one word, but not behind the last one
            "local_m_10": further,
            "local_m_plain_10": further,
            "local_p": (predicted := S * torch.sigmoid(learned)),
            "local_p_started": predicted,
            "local_p_started_10": predicted,
            "counted": torch.minimum(40 * torch.sigmoid(learned), S - 1),
            "walking": (walked := torch.minimum(p + 3 * torch.sigmoid(learned), S - 1)),
            "walking_10": walked,
            "walking_narrow_10": walked,
            "walking_flat": walked,
            "both_ways": torch.minimum(p + 3 * torch.tanh(learned), S - 1),
        }
        _, weights, centre = layer(s, p, h, S)
        assert torch.allclose(centre, wanted[name])
        outside = (torch.arange(9) - centre[:, None]).abs() > (10 if name.endswith("_10") else 2)
        assert weights[outside].count_nonzero() == weights[1, 6:].count_nonzero() == 0


@torch.no_grad()
def test_the_wide_windows_reach_ten_words_and_one_of_them_has_no_gaussian(file):
    g = torch.Generator().manual_seed(1)
    s, h = torch.randn(1, 8, generator=g), torch.randn(1, 30, 8, generator=g)
    for name, plain in (("local_m_10", False), ("local_m_plain_10", True), ("walking_10", False)):
        _, weights, centre = attention(file, name)(s, torch.tensor([12.0]), h, torch.tensor([30]))
        distance = (torch.arange(30) - centre).abs()
        assert torch.equal(weights[0] > 0, distance <= 10)
        assert torch.isclose(weights.sum(), torch.tensor(1.0), atol=1e-6) == plain
    wide, plain = (
        attention(file, f"local_m{part}_10")(s, torch.tensor([12.0]), h, torch.tensor([30]))[1]
        for part in ("", "_plain")
    )
    inside = slice(3, 24)  # around the centre, which is 13
    wanted = torch.exp(-((torch.arange(3, 24) - 13.0) ** 2) / 50)  # σ is half of ten
    assert torch.allclose(wide[0, inside] / plain[0, inside], wanted, atol=1e-5)


@torch.no_grad()
def test_mask_and_gaussian_of_a_walking_window_can_have_different_widths(file):
    g = torch.Generator().manual_seed(1)
    s, h = torch.randn(1, 8, generator=g), torch.randn(1, 30, 8, generator=g)
    for name, reach, sigma in (("walking_narrow_10", 10, 1), ("walking_flat", 2, 5), ("walking", 2, 1)):
        layer = attention(file, name)
        _, weights, centre = layer(s, torch.tensor([12.0]), h, torch.tensor([30]))
        distance = torch.arange(30) - centre  # (Tk,)
        inside = distance.abs() <= reach
        softmax = (layer.W_a(h)[0] @ s[0]).masked_fill(~inside, float("-inf")).softmax(dim=-1)
        assert torch.allclose(weights[0], softmax * torch.exp(-(distance**2) / (2 * sigma**2)), atol=1e-6)


@torch.no_grad()
def test_a_window_that_may_go_back_goes_at_most_to_the_place_where_it_started(file):
    s, h, S, _ = given()
    layer = attention(file, "both_ways")
    with torch.no_grad():
        layer.v_p.weight.fill_(-100.0)
        layer.W_p.weight.copy_(torch.eye(8))
    back = torch.tanh(layer.v_p(torch.tanh(layer.W_p(s.abs())))[:, 0])
    assert torch.allclose(back, torch.tensor(-1.0))
    centres = [layer(s.abs(), torch.full((2,), start), h, S)[2] for start in (4.0, 0.5)]
    assert torch.allclose(centres[0], torch.tensor(1.0))
    assert torch.allclose(centres[1], torch.tensor(-1.0))


@torch.no_grad()
def test_the_oracle_is_told_the_true_word_and_chooses_from_the_five_words_around_it(file):
    names = centre_rules.file_with("oracle", 0)
    model = names["Translator"](True)
    english, german = (
        ["six", ",", "forty", "two", ",", "seven"],
        ["sechs", ",", "zwei", "und", "vierzig", ",", "sieben"],
    )
    source, target = names["batch_of"]([(english, german), (["six"], ["sechs"])])
    for of_training in (target, None):
        _, weights, centres = model(source, 9, of_training if of_training is None else torch.cat([target, target], 1))
        assert centres.tolist() == [[0, 1, 3, 3, 2, 4, 5, 5, 5], [0] * 9]
        assert (weights[0] > 0).sum(dim=1).tolist() == [3, 4, 5, 5, 5, 4, 3, 3, 3]
        assert torch.allclose(weights.sum(dim=-1), torch.ones(2, 9))  # no Gaussian, and no padding
    pairs = centre_rules.true_positions(english, german, names["UNITS"])
    assert all(centres[0, t] == place for t, place in pairs)


@torch.no_grad()
def test_scattered_words_are_five_of_the_list_with_the_true_one_and_new_ones_at_each_step(file):
    names = centre_rules.file_with("scattered", 0)
    model = names["Translator"](True)
    lists = [(["six", ",", "forty", "two", ",", "seven", ",", "nine"], ["sechs"]), (["six", ",", "two"], ["sechs"])]
    source, _ = names["batch_of"](lists)
    _, weights, centres = model(source, 200)
    chosen = weights > 0  # (B, steps, Tk)
    assert chosen[0].sum(dim=1).tolist() == [5] * 200
    assert chosen[1].tolist() == [[True] * 3 + [False] * 5] * 200  # shorter than five: all its words
    assert chosen.gather(2, centres.long()[:, :, None]).all()
    often = chosen[0, 10:].float().mean(dim=0)  # at the end the true word is the last
    assert often[7] == 1
    assert all(0.4 < share < 0.75 for share in often[:7].tolist())  # four of the seven others: 4 / 7


@pytest.mark.parametrize("name", ["local_p_started", "local_p_started_10"])
@torch.no_grad()
def test_a_started_decoder_begins_with_the_last_states_of_the_encoder(name):
    names = centre_rules.file_with(name, 0)
    model, states = names["Translator"](True), []
    model.decoder.cell.register_forward_pre_hook(lambda _, given: states.append(given[1]))
    source, _ = names["batch_of"]([(["six", ",", "two"], ["sechs"]), (["six"], ["sechs"])])
    model(source, 2)
    _, (alone, _) = model.encoder(model.embed(source[1:, :1]))  # (2, 1, D / 2): both directions of the short list
    assert torch.allclose(states[0][0][1], alone.flatten(), atol=1e-6)
    assert states[0][1].abs().sum() > 0


@torch.no_grad()
def test_last_weights_change_global_attention_near_them_and_only_where_there_are_some(file):
    s, h, S, p = given()
    layer = attention(file, "last_weights")
    _, first, carried = layer(s, p, h, S)  # before the first word there are no last weights
    scores = (h @ (s @ layer.W_a.weight)[:, :, None])[:, :, 0]
    plain = scores.masked_fill(torch.arange(9) >= S[:, None], float("-inf")).softmax(dim=-1)
    assert torch.allclose(first, plain, atol=1e-6)
    assert torch.equal(carried, first)
    last = torch.zeros(2, 9)
    last[:, 0] = 1.0
    _, second, _ = layer(s, last, h, S)
    changed = (second / plain).log()[0]  # a constant where nothing is added to the score
    assert torch.allclose(changed[4:], changed[-1].expand(5), atol=1e-5)
    assert not torch.allclose(changed[:4], changed[-1].expand(4), atol=1e-3)


def test_true_positions_are_those_of_the_number_words():
    english = ["forty", "two", ",", "seven"]
    german = ["zwei", "und", "vierzig", ",", "sieben"]
    pairs = centre_rules.true_positions(english, german, ["two", "seven"])
    assert pairs == [(0, 1), (2, 0), (4, 3)]


@pytest.mark.parametrize(
    "name", ["last_weights", "local_m", "oracle", "scattered", "local_p_started", "local_m_plain_10"]
)
def test_a_run_trains_and_measures(name, tmp_path, monkeypatch):
    monkeypatch.setattr(centre_rules, "LISTS", 3)
    figures = checked_run(centre_rules, Job(name, 0, 2), tmp_path, "cpu")
    assert figures["exact_match"].keys() == {str(n) for n in centre_rules.TESTED}
    assert figures["centres"].keys() == {"5", "15"}
    path = figures["centres"]["5"]["path"]
    assert [place for place, _ in path[:2]] in ([0, 2], [1, 0], [0, 3])
    if name == "local_m":
        assert path[0][1] == 0


def test_the_record_has_every_rule_and_windows_of_one_size():
    runs = load_result("centre_rules")["runs"]
    assert {(run["model"], run["seed"]) for run in runs} == {
        (name, seed) for name in centre_rules.STEPS for seed in range(3)
    }
    assert len({run["parameters"] for run in runs if run["model"] != "last_weights"}) == 1
