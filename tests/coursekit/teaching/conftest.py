"""The book's wheel, for handouts and for itself."""

from built_wheel import wheel  # noqa: F401 (a fixture)
