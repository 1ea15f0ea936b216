"""The kinds of question by chapters; importing this package enters all of them into KINDS."""

from coursekit.exams.kinds import attending, language, memory, recurrent, selfattention, today, transformer, windows
from coursekit.exams.question import KINDS

__all__ = ["KINDS", "attending", "language", "memory", "recurrent", "selfattention", "today", "transformer", "windows"]
