"""The pages of what `attnbook` and `misread` offer, made from their sources, which are read and never imported."""
