"""Grading a class: answers run apart from the grader, and only data passes between them.

`submission` reads a notebook; `isolation` and `apart` start and contain the process that runs its functions;
`answering` is what runs there; `remote` puts such a function in a check's hands; `marking` gives the points.

What a person grades passes by all of this: `written` finds the answer to the text question, `text_page` shows all
answers of a class, `text_table` keeps what was filled in, and `texts` brings it into the grades.
"""
