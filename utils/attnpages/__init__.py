"""What the pages of the book show: figures, checked claims, and the package's own source."""

from attnpages.teaching import ClaimError, claim, show_source

__all__ = ["ClaimError", "claim", "show_source"]
