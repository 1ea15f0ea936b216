"""The longer runs: comparisons over several seeds that do not fit into a notebook.

``python -m attnbook.experiments NAME`` trains, and leaves ``scratch/NAME.json`` with its command, commit, seeds,
device, versions and figures, and small weights in ``scratch/weights/``. With ``--record`` they go to ``results/``,
which the chapters read. ``--help`` says what each experiment is and how long it takes.

Each module of this folder is an experiment: models by name, what is chosen about each (a recipe), and one
``EXPERIMENT``. What they share lies in :mod:`attnruns.shared`.
"""
