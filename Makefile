# Thin on purpose: course.py does the work, on every system; `make lab` and `python course.py lab` are the same.
# PYTHON names another Python for the set-up; TORCH=cpu takes PyTorch's small build where the package index has it.
PYTHON ?= python3

# An activated .venv comes first on the path, but set-up must find the Python outside of it: it may make it anew.
export PATH := $(subst $(CURDIR)/.venv/bin:,,$(PATH))

.PHONY: help setup book pdf epub offline lab test check release dist lint verify clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv complete, and nothing else
	@"$(PYTHON)" course.py setup

book: ## build the book and say where it starts (installs the book's tools only)
	@"$(PYTHON)" course.py book

pdf: ## print the book as PDFs, with Chromium
	@"$(PYTHON)" course.py pdf

epub: ## make an ePub of the book, for e-readers
	@"$(PYTHON)" course.py epub

offline: ## pack the book's pages into one zip file
	@"$(PYTHON)" course.py offline

lab: ## open the labs in JupyterLab, as copies in work/
	@"$(PYTHON)" course.py lab

test: ## every proof: style, book, unit tests, labs in step, all notebooks run again
	@"$(PYTHON)" course.py test

check: ## the part of `make test` that takes a few minutes, for authors
	@"$(PYTHON)" course.py check

release: ## make labs/ from solutions/
	@"$(PYTHON)" course.py release

dist: ## make all that a release of the book holds, in dist/
	@"$(PYTHON)" course.py dist

lint:
	@"$(PYTHON)" course.py lint

verify:
	@"$(PYTHON)" course.py verify

clean: ## take away what was built (not the environment: remove .venv by hand)
	rm -rf book/_build .mypy_cache .pytest_cache .ruff_cache
