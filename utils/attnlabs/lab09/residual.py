"""Lab 9, second part: the residual connection, and the position of its norm."""

from misread.exercise import About, Exercise

from ..fakes.sublayer import FakeNorm, FakeSublayer


def _sublayers(draw):
    batch, length, dim = draw.sizes(3)
    for B, T, D in ((batch, length, dim), (3, 3, 3), (1, length, dim), (batch, 1, dim)):
        sublayer, norm = FakeSublayer(draw.normal(D, D)), FakeNorm(draw.uniform(D, low=0.5, high=1.5), draw.normal(D))
        yield draw.normal(B, T, D) + 0.5, sublayer, norm


def residual_post_norm(x, sublayer, norm):
    """Add x to the sublayer's output, then normalise the sum: (B, T, D) -> (B, T, D)."""
    return norm(x + sublayer(x))  # (B, T, D)


RESIDUAL_POST_NORM = Exercise(
    residual_post_norm,
    cases=_sublayers,
    about=About(points=2, minutes=8, difficulty=2, read_again="Residual connection and layer norm"),
)

must = RESIDUAL_POST_NORM.properties
must(
    "the norm comes last",
    lambda result, x, sublayer, norm: ((result - norm.bias) / norm.gain).mean(-1).abs().max() < 1e-9,
).says("""
    In post-norm the last step is a call of the norm that your function was given. Take off that norm's bias and divide
    by its gain: then the features of each word must have mean 0, and in your result they don't.""")

wrong = RESIDUAL_POST_NORM.mistakes
wrong("a norm of your own", {"norm(x +": "F.layer_norm(x +", "sublayer(x))": "sublayer(x), x.shape[-1:])"}).says("""
    You normalised the right sum, but with a norm of your own. Call the function `norm` that yours was given, because it
    has a gain and a bias of its own, which are learnt.""")
wrong("sublayer not called", {"sublayer(x)": "sublayer"}).says("""
    You added the sublayer itself to x, and it is a function. Call it with x and add what it returns: `sublayer(x)`.""")
wrong("residual forgotten", {"x + sublayer(x)": "sublayer(x)"}).says("""
    You normalised the sublayer's output without adding x. The residual connection adds x, so that the word's
    content and the gradient can bypass the sublayer in a deep stack.""")
wrong("this is pre-norm", {"norm(x + sublayer(x))": "x + sublayer(norm(x))"}).says("""
    You normalised the *input* of the sublayer, which is pre-norm, the next exercise. Post-norm, as in the paper,
    adds first and then normalises the sum.""")
wrong("only the sublayer is normalised", {"norm(x + sublayer(x))": "x + norm(sublayer(x))"}).says("""
    You normalised the sublayer's output and then added x. In post-norm the *sum* is normalised, so that the
    features that the next layer receives keep the same size.""")
wrong("normalised before and after", {"sublayer(x)": "sublayer(norm(x))"}).says("""
    You normalised the sublayer's input as well as the sum. Post-norm has only one norm, which is applied to the
    sum.""")
wrong("only x is normalised", {"norm(x + sublayer(x))": "norm(x) + sublayer(x)"}).says("""
    You normalised x and then added the sublayer's output to it. Post-norm adds first, and then normalises the
    sum.""")
wrong("sublayer applied twice", "x = sublayer(x)\nreturn norm(x + sublayer(x))").says("""
    You overwrote x with the sublayer's output and called the sublayer again. Call it once, and add its output to the x
    that came in.""")
wrong("x normalised in the sum", {"norm(x + sublayer(x))": "norm(norm(x) + sublayer(x))"}).says("""
    You normalised the sum, but the x in it as well. Post-norm has only one norm, which is applied to
    x + sublayer(x).""")
wrong("x overwritten by its norm", "x = norm(x)\nreturn norm(x + sublayer(x))").says("""
    You replaced x by norm(x) and worked on with it. Post-norm has only one norm, at the end: both the sublayer and the
    sum take the x that came in.""")
wrong("both parts normalised, not the sum", {"norm(x + sublayer(x))": "norm(x) + norm(sublayer(x))"}).says("""
    You normalised x and the sublayer's output separately, and added the two. Post-norm adds first, and then normalises
    the sum.""")
wrong("sublayer and norm exchanged", {"norm(x + sublayer(x))": "sublayer(x + norm(x))"}).says("""
    In your function sublayer and norm have changed places. The parameters stand in the order x, sublayer, norm, and the
    norm is called last, with the sum.""")
WORD_BY_WORD = """
    You called the sublayer for each word separately. It takes all words of the sentences at once, (B, T, D), because a
    sublayer such as attention moves information between the words."""
_WORDS = "return torch.cat([norm(word + sublayer(word)) for word in x.split(1, dim=1)], dim=1)"
wrong("word by word", _WORDS).says(WORD_BY_WORD)


def residual_pre_norm(x, sublayer, norm):
    """Add x to the output of a sublayer whose input is normalised: (B, T, D) -> (B, T, D)."""
    return x + sublayer(norm(x))  # (B, T, D)


RESIDUAL_PRE_NORM = Exercise(
    residual_pre_norm,
    cases=_sublayers,
    about=About(points=2, minutes=7, difficulty=2, read_again="Residual connection and layer norm"),
)

must = RESIDUAL_PRE_NORM.properties
must(
    "x is passed on unchanged", lambda result, x, sublayer, norm: abs((result - x) - sublayer(norm(x))).max() < 1e-9
).says("""
    If x is subtracted from the result, the sublayer's output for norm(x) must remain, where norm is the function that
    yours was given. In your result something else remains.""")

wrong = RESIDUAL_PRE_NORM.mistakes
wrong("a norm of your own", {"norm(x)": "F.layer_norm(x, x.shape[-1:])"}).says("""
    You normalised x, but with a norm of your own. Call the function `norm` that yours was given, because it has a gain
    and a bias of its own, which are learnt.""")
wrong("residual forgotten", {"x + sublayer": "sublayer"}).says("""
    You returned the sublayer's output without adding x. The residual connection adds x, so that the word's content and
    the gradient can bypass the sublayer in a deep stack.""")
wrong("x overwritten by its norm", "x = norm(x)\nreturn x + sublayer(x)").says("""
    The vector that you add to the sublayer's output is norm(x). It must be x itself, because in pre-norm the
    residual connection carries x through the whole stack unchanged. Normalise only the sublayer's input.""")
wrong("this is post-norm", {"x + sublayer(norm(x))": "norm(x + sublayer(x))"}).says("""
    You normalised the sum, which is post-norm, the previous exercise. Pre-norm normalises only the input of the
    sublayer and leaves the sum as it is.""")
wrong("norm after the sublayer", {"sublayer(norm(x))": "norm(sublayer(x))"}).says("""
    You normalised the *output* of the sublayer. Pre-norm normalises its input, and leaves the output as it is. (If your
    line looks right, look at the order of your parameters: x, sublayer, norm.)""")
wrong("normalised before and after the sublayer", {"sublayer(norm(x))": "norm(sublayer(norm(x)))"}).says("""
    You normalised the sublayer's output as well as its input. Pre-norm has only one norm, in front of the sublayer, and
    adds the sublayer's output as it is.""")
wrong("sublayer not called", {"sublayer(norm(x))": "sublayer"}).says("""
    You added the sublayer itself to x, and it is a function. Call it with the normalised x and add what it returns:
    `sublayer(norm(x))`.""")
wrong("norm not called", {"norm(x)": "norm"}).says("""
    You gave the sublayer the norm itself, which is a function. Call the norm with x, and give the sublayer what it
    returns: `sublayer(norm(x))`.""")
wrong("word by word", "return torch.cat([w + sublayer(norm(w)) for w in x.split(1, dim=1)], dim=1)").says(WORD_BY_WORD)
wrong("normalised before and after", {"x + sublayer(norm(x))": "norm(x + sublayer(norm(x)))"}).says("""
    You normalised the sum as well as the sublayer's input. Pre-norm has only one norm, in front of the sublayer,
    so that x itself is passed on unchanged.""")
wrong("norm on the wrong path", {"x + sublayer(norm(x))": "norm(x) + sublayer(x)"}).says("""
    You normalised the x that is added and gave the sublayer the x that is not normalised. It is the other way
    round: the sublayer receives norm(x), and x itself is added.""")
