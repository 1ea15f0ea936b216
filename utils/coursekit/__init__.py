"""What authors and teachers of the course run; the command is `coursekit`. Notebooks never import it."""

import coursekit.no_grammars  # noqa: F401  before anything imports nbformat

ROOMS = ("attnbook", "misread", "attnpages", "attnruns", "attnlabs", "coursekit")  # the packages in utils/


class CourseError(Exception):
    """What is refused, on the command line or in the course's files; the message says what, and how to mend it."""
