# Thin on purpose: each target calls a tool, and every one of them sets itself up first. Without make: see README.md.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
SET_UP := $(VENV)/.installed

# nbgrader and jupyter-book call their helpers by name, so the environment comes first on the path.
export PATH := $(abspath $(BIN)):$(PATH)
export JUPYTER_PREFER_ENV_PATH := 1

PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BOOK   := $(BIN)/jupyter-book build . --config book/_config.yml --toc book/_toc.yml --path-output book
# Two workers with a thread each; a notebook stays whole in one worker, and so in one kernel.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: help book test check lab release lint verify clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

book: $(SET_UP) ## build the book and print where it starts
	$(BOOK) -W --keep-going -n
	@echo "Open $(abspath book/_build/html/index.html)"

test: lint book ## every proof: style, book, unit tests, labs in step, all notebooks run again
	$(PYTEST) --nbval-lax --nbval-cell-timeout=300 chapters solutions tests

check: lint verify ## the two-minute part of `make test`, for authors
	$(PYTEST) -m "not slow and not book" tests

lab: $(SET_UP) ## JupyterLab, opened on the labs
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/labs

release: $(SET_UP) ## make labs/ from solutions/
	$(BIN)/coursekit release

lint: $(SET_UP)
	$(BIN)/ruff check .

verify: $(SET_UP)
	$(BIN)/coursekit verify

clean: ## take away what was built (not the environment: remove .venv by hand)
	rm -rf book/_build .pytest_cache .ruff_cache

$(SET_UP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@
