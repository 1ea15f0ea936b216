"""Notebooks are read and checked without the grammars of web addresses, in the tools and in pytest."""

import subprocess
import sys

import pytest

CODE = """
import sys, coursekit.notebooks, nbformat
nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", id="one")]))
try:
    nbformat.validate({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]})
except nbformat.ValidationError:
    sys.exit("lark" in sys.modules)
sys.exit("a notebook's mistake was not seen")
"""


@pytest.mark.slow
def test_coursekit_checks_notebooks_without_grammars():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pytest_does_without_them_although_nbval_imports_nbformat_first(pytestconfig):
    if not pytestconfig.pluginmanager.has_plugin("coursekit.no_grammars"):
        pytest.skip("pytest was given options of its own in place of `addopts`")
    assert "nbformat" in sys.modules
    assert "lark" not in sys.modules
