"""The longer runs: experiments with several seeds, their records, and what a stored model can be asked to do.

``python -m attnbook.experiments NAME`` runs one; :mod:`attnruns.results` reads what it left.
"""
