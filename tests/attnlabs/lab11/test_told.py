"""What a student of lab 11 is told where no known mistake fits."""

import pytest
import torch

from attnlabs import evaluate


@pytest.mark.parametrize("small", [1e-12, 1e-30, 1e-300])
def test_a_loss_that_is_cut_off_is_called_so_whatever_the_smallest_probability_is(small):
    def perplexity(logits, target, pad):
        shares = logits.softmax(-1).gather(-1, target[..., None])[..., 0]
        return (-shares.clamp(min=small).log()[target != pad].mean()).exp()

    verdict = evaluate("lab11", "perplexity", perplexity)
    assert verdict.mistake is None
    assert "`log_softmax` needs neither" in " ".join(verdict.message.split())


def test_a_comparison_without_parentheses_is_explained():
    def mask_for_bert(tokens, chosen, mask_id, vocabulary, draw):
        return tokens.masked_fill(chosen & draw[0] < 0.8, mask_id), tokens.masked_fill(~chosen, 0)

    verdict = evaluate("lab11", "mask_for_bert", mask_for_bert)
    assert "in parentheses" in " ".join(verdict.message.split())


def test_a_bound_that_is_missed_is_named_and_not_taken_for_something_else():
    def mask_for_bert(tokens, chosen, mask_id, vocabulary, draw):
        word = 3 + (draw[1] * (vocabulary - 3)).long()
        random = chosen & (draw[0] > 0.8) & (draw[0] <= 0.9)
        inputs = torch.where(random, word, tokens).masked_fill(chosen & (draw[0] < 0.8), mask_id)
        return inputs, tokens.masked_fill(~chosen, 0)

    told = " ".join(evaluate("lab11", "mask_for_bert", mask_for_bert).message.split())
    assert "from 0.8 to below 0.9" in told or "0.9 or more" in told


def test_an_exponential_that_is_no_probability_is_not_taken_for_the_most_probable_token_alone():
    def top_p_filter(logits, p):
        ordered, words = logits.exp().sort(-1, descending=True)
        drop = (ordered.cumsum(-1) - ordered >= p).gather(-1, words.argsort(-1))
        return logits.masked_fill(drop, float("-inf"))

    assert evaluate("lab11", "top_p_filter", top_p_filter).mistake == "exp not divided by its sum"
