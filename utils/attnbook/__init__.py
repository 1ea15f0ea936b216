"""The subject matter of *Paying Attention*: what the chapters explain and the labs build. It needs torch and tqdm.

Guess the file from the concept: ``attnbook.attention`` (scores, masks, attend), ``attnbook.models`` (one file per
paper), ``attnbook.data`` (one file per task, in rooms by kind), ``attnbook.training``, ``attnbook.decoding`` and
``attnbook.measure``. What is around it has packages of its own; ``utils/README.md`` is the map.
"""

__version__ = "0.1.0"
