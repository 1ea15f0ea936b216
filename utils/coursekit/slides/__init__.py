"""Slides for a lecture, made of a chapter's own cells and figures."""
