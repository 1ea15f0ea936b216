"""The subject matter of *Paying Attention*: what the chapters show and the labs build.

Guess the file from the concept: ``attnbook.attention`` (scores, masks, attend), ``attnbook.models`` (one file a
paper), ``attnbook.data`` (one file a task), ``attnbook.training``, ``attnbook.decoding``, ``attnbook.measure.metrics``,
``attnpages.figures``, ``attnlabs`` (what the labs call), ``attnruns.experiments`` (the longer runs).
"""

__version__ = "0.1.0"
