"""Lab 16: one step of the power iteration that estimates a matrix's largest singular value."""

import torch
from torch.nn import functional as F

from misread.exercise import About, Exercise


def spectral_norm_step(weight, u):
    """One power iteration: weight (O, ...), u (O,) -> weight / σ (O, ...), new u (O,)."""
    matrix = weight.flatten(1)  # (O, …) -> (O, M)
    with torch.no_grad():  # u and v count as constants
        v = F.normalize(matrix.T @ u, dim=0)  # (M,)
        u = F.normalize(matrix @ v, dim=0)  # (O,)
    sigma = u @ matrix @ v  # (), an estimate of the largest singular value
    return weight / sigma, u


def _weights(draw):
    outputs, inputs, height, width = draw.sizes(4)

    def drawn(*shape):
        u = draw.normal(shape[0])
        return 2 * draw.normal(*shape), u / u.norm()

    if draw.compact:
        yield drawn(2, 2)
        yield drawn(2, 1, 1, 2)
    yield drawn(outputs, inputs)
    yield drawn(outputs, inputs, height, width)  # the kernels of a convolution
    yield drawn(3, 3)  # square: W and its transpose may be confused
    yield drawn(4, 2, 1, 2)
    yield drawn(2, 2, 2, 2)
    yield drawn(1, 1, 2, 3)  # one output, one input
    yield drawn(1, 1, 3)
    weight, u = drawn(outputs, width)
    yield weight / 100, u  # a largest singular value below 1
    weight, u = drawn(inputs, outputs, width)
    yield weight, 3 * u  # no unit vector: only its direction counts


SPECTRAL_NORM_STEP = Exercise(
    spectral_norm_step,
    cases=_weights,
    returns=("normalised", "new_u"),
    about=About(
        points=3, minutes=25, difficulty=3, read_again=("16_sagan_evidence", "What a spectral norm does not bound")
    ),
)

must = SPECTRAL_NORM_STEP.properties
must("new_u has length 1", lambda result, *args: abs(result[1].norm() - 1) < 1e-6).says("""
    The new u must have length 1, because σ is measured with it.""")
must("one step from the u that came in", lambda result, weight, u: _one_step(result[1], weight.flatten(1), u)).says("""
    The new u must come from the u that came in, by exactly one step with the matrix (O, M): first v, which is Wᵀ u
    divided by its length, and then u, which is W v divided by its length.""")
must(
    "the weight divided by one number",
    lambda result, weight, u: torch.allclose(result[0] / result[0].norm(), weight / weight.norm(), atol=1e-6),
).says("""
    The first result is the weight, in its own shape, divided by the single number σ.""")


def _one_step(new, matrix, u):
    """Whether the new u has the right direction; its length is another matter."""
    wanted = matrix @ (matrix.T @ u)
    return torch.allclose(F.normalize(new, dim=0), F.normalize(wanted, dim=0), atol=1e-4)


_MATRIX, _V, _U = "weight.flatten(1)", "F.normalize(matrix.T @ u, dim=0)", "F.normalize(matrix @ v, dim=0)"
_NEW_U, _SIGMA, _RETURN = f"        u = {_U}", "u @ matrix @ v", "weight / sigma, u"
_NEW = f"        new = {_U}"
_OLD = {_NEW_U: _NEW, _SIGMA: "F.normalize(u, dim=0) @ matrix @ v", _RETURN: "weight / sigma, new"}

wrong = SPECTRAL_NORM_STEP.mistakes
wrong("the exact largest singular value", {_SIGMA: "torch.linalg.matrix_norm(matrix, 2)"}).says("""
    You divided by the exact largest singular value. Here σ is the estimate u · W v after a single step, which is much
    cheaper in each training step and comes closer to the exact value from step to step.""")
wrong("the Frobenius norm", {_SIGMA: "matrix.norm()"}).says("""
    You divided by the root of the sum of all squares, which is the Frobenius norm. The spectral norm is the largest
    singular value only, and its estimate is σ = u · W v.""")
wrong("the old u returned", {_NEW_U: _NEW, _SIGMA: "new @ matrix @ v"}).says("""
    You returned the u that came in. The power iteration makes progress only if the next step starts from the new u, so
    return that one.""")
wrong("σ with the old u", _OLD).says("""
    You measured σ with the old u. Compute the new u = W v / |W v| first, and then σ = u · W v with the new u and v,
    which is the closer estimate.""")
wrong("σ with the old u, as it came", {_NEW_U: _NEW, _RETURN: "weight / sigma, new"}).says("""
    You measured σ with the old u. Compute the new u = W v / |W v| first, and then σ = u · W v with the new u and v; the
    old u need not even have length 1.""")
wrong("u without length 1", {_U: "matrix @ v"}).says("""
    You did not divide W v by its length, so your new u does not have length 1, and u · W v is then σ². Divide by the
    length before you use u.""")
wrong("v without length 1", {_V: "matrix.T @ u"}).says("""
    You did not divide Wᵀ u by its length, so your v does not have length 1, and σ is too large or too small by this
    length. Divide by the length first.""")
wrong("neither divided by its length", {_V: "matrix.T @ u", _U: "matrix @ v"}).says("""
    You divided neither v nor u by its length. Both need length 1, because otherwise they grow or vanish from step to
    step, and σ = u · W v is measured wrongly.""")
wrong("two steps", {_SIGMA: f"F.normalize(matrix @ F.normalize(matrix.T @ u, dim=0), dim=0) {_SIGMA[2:]}"}).says("""
    Your v and u do not belong to the same step. Compute v from the old u, then the new u from this v, and σ from these
    two.""")
wrong("v once more from the new u", {_NEW_U: f"{_NEW_U}\n        v = {_V}"}).says("""
    Your σ is |Wᵀ u| with the new u, as if v were computed a second time, from this u. One step has one v and one u: v
    from the old u, then the new u from this v, and σ = u · W v from these two.""")
wrong("sums of absolute values for lengths", {
    _V: _V.replace("dim", "p=1, dim"), _U: _U.replace("dim", "p=1, dim")
}).says("""
    You divided by the sum of the absolute values. The length of a vector is the root of the sum of its squares:
    `.norm()`, or `F.normalize(…, dim=0)`.""")  # fmt: skip
LENGTH = "(lambda vector: vector / vector.square().sum())"
wrong("divided by the square of the length", {_V: f"{LENGTH}(matrix.T @ u)", _U: f"{LENGTH}(matrix @ v)"}).says("""
    You divided by the sum of the squares, so the root is missing. The length of a vector is the root of the sum of its
    squares: `.norm()`, or `F.normalize(…, dim=0)`.""")
wrong("several steps", {"with torch.no_grad():": "for _ in range(2):", "return": "u = u.detach()\n    return"}).says("""
    You took more than one step of the power iteration. One step per call is enough, because u is kept and the next
    training step goes on from it.""")
wrong("multiplied by σ", {_RETURN: "weight * sigma, u"}).says("""
    You multiplied the weight by σ. Divide by it: the largest singular value of the result is then about 1, whatever it
    was before.""")
wrong("divided by σ²", {_RETURN: "weight / sigma**2, u"}).says("""
    You divided by σ². σ is u · W v with the new u, whose length is 1; with W v itself in the place of u, before it is
    divided by its length, the product is σ².""")
wrong("divided by the root of σ", {_RETURN: "weight / sigma.sqrt(), u"}).says("""
    You divided by the root of u · W v. A root is needed for the eigenvalues of W Wᵀ only, which are squares of singular
    values; u · W v is σ itself.""")
wrong("an entry of the matrix for σ", {_SIGMA: "matrix.abs().max()"}).says("""
    You divided by the largest entry of the matrix. σ is the estimate u · W v of the largest singular value, the largest
    factor by which W can lengthen a vector, and all entries have a part in it.""")
wrong("σ instead of the weight", {_RETURN: "sigma, u"}).says("""
    Your first result is σ itself. Return the weight divided by σ, in the weight's own shape, and the new u.""")
wrong("the matrix instead of the weight", {_RETURN: "matrix / sigma, u"}).says("""
    You returned the flattened matrix. The convolution needs its kernels in their own shape, so divide `weight`, not the
    matrix, by σ.""")
wrong("v returned", {_RETURN: "weight / sigma, v"}).says("""
    Your second result is v, which has one entry per column. The next step starts from u, which has one entry per row:
    return the new u.""")
wrong(
    "the transpose the other way round",
    {"matrix.T @ u": "matrix @ u", "matrix @ v, d": "matrix.T @ v, d", _SIGMA: "v @ matrix @ u"},
).says("""
    You multiplied u by W and v by its transpose. u has one entry per *row* of W (per output), so v comes from Wᵀ u, and
    the new u from W v.""")
wrong(
    "outputs in the last axis",
    {
        _MATRIX: "weight.reshape(-1, len(weight))",
        "matrix.T": "matrix",
        "matrix @ v, d": "matrix.T @ v, d",
        "u @ matrix @ v": "v @ matrix @ u",
    },
).says("""
    You flattened the weight so that its last axis has O entries, which mixes the numbers of several outputs. The
    outputs are axis 0: flatten all axes after it, (O, M).""")
wrong(
    "gradient through the power iteration", {"with torch.no_grad():": "if True:", _RETURN: "weight / sigma, u.detach()"}
).says("""
    Your values are right, but the gradient also flows through u and v. Both count as constants, also the u that
    you return: only the matrix in σ = u · W v is differentiated. Compute u and v inside `torch.no_grad()`, or detach
    them.""")
DETACHED = {
    "with torch.no_grad():": "if True:",
    "(matrix.T": "(matrix.detach().T",
    "(matrix @ v, d": "(matrix.detach() @ v, d",
}
wrong("gradient into the old u", DETACHED).says("""
    Your values are right, but a gradient arrives at the u that came in. It counts as a constant, as v and the new u do:
    compute both inside `torch.no_grad()`, or detach u as well as the matrix.""")
wrong("σ as a constant, or u not", {"weight / sigma, u": "weight / sigma.detach(), u"}).says("""
    Your values are right, but the gradient at the weight is not. Either σ is cut off from the weight (`.detach()`,
    `.item()`, or computed inside `no_grad`), although σ depends on the weight and this belongs to the gradient; or the
    weight that you divide by σ is cut off; or the new u that you return carries a gradient, although u and v count as
    constants.""")
EXACT = """
U, values, _ = torch.linalg.svd(weight.flatten(1), full_matrices=False)
return weight / values[0], U[:, 0].detach()"""
wrong("the exact singular vectors", EXACT).says("""
    You computed all singular values and vectors exactly (`svd`), and u has no effect. Here a single step of the power
    iteration is wanted, which is much cheaper and starts from the given u.""")
wrong("only where σ is above 1", {_RETURN: "weight / sigma.clamp(min=1), u"}).says("""
    You divided only where σ is above 1. The weight is always divided by σ, so a small weight is made larger: the
    largest singular value of the result is about 1 in every case.""")
wrong("matrices only", {_MATRIX: "weight"}).says("""
    Your function takes a weight with two axes only. The kernels of a convolution are (O, C, height, width): join all
    axes after the first, weight.flatten(1), before you multiply, and divide the weight in its own shape.""")
