"""What is wrong with a file of weights, in one sentence."""


class WeightsError(ValueError):
    """A file of weights that cannot be read, or a model in it that cannot be built from the book's parts."""
