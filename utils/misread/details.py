"""What a student reads of a side effect whose detail says what happened, and not what is concerned.

The other side effects fill their detail into the sentence of their kind, see `messages.GENERAL`.
"""

STOPS, NO_WAY_BACK = "fails with gradients", "the way back fails"
STOPS_SINGLE, NOT_FINITE_SINGLE = "fails in float32", "NaN or ∞ in float32"
SLOW_GRADIENTS, SLOW_SINGLE = "if its inputs carry gradients", "with inputs in float32"
SLOW_AGAIN = "when it is called a second time"

DETAILS = {
    STOPS: (
        "The numbers are right, but your function stops if its inputs carry gradients. The usual cause is `.numpy()` "
        "or a function of numpy; torch's own functions let gradients through."
    ),
    NO_WAY_BACK: (
        "The numbers are right, but torch cannot compute the gradients of your result. The usual cause is a tensor "
        "that was used and then written into (`x += …`, `x[i] = …`), although the gradient needs it as it was; "
        "`.clone()` at the beginning does not help. Make a new tensor, as `x = x + …` does, or collect the parts in a "
        "list and join them with `torch.stack`."
    ),
    STOPS_SINGLE: (
        "The numbers are right in float64, but with inputs in float32 your function stops. Let the type follow the "
        "input, for example with `torch.zeros_like(x)`, `x.new_zeros(…)` or `dtype=x.dtype`."
    ),
    NOT_FINITE_SINGLE: (
        "The numbers are right in float64, but with inputs in float32 your result holds NaN or infinity. Numbers "
        "above 3.4e38 are infinite there, and those below 1.4e-45 are 0: avoid them on the way."
    ),
    **{
        when: (
            f"The numbers are right, but {when} your function is stopped because it needs too long, seconds instead of "
            "milliseconds. Look for a loop (`for`, `while`) that does not end then, or that repeats its work."
        )
        for when in (SLOW_GRADIENTS, SLOW_SINGLE, SLOW_AGAIN)
    },
}
