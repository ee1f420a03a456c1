# make demo | test | test-slow | test-extended | lint | types | docs | install | clean
#
# Everything is installed into .venv with pip, what a target needs or, by `make install`, all at once; the stamp files in it make a second
# run start at once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.NOTPARALLEL:
.PHONY: demo test test-slow test-extended lint format types docs install clean

demo: $(VENV)/.installed
	$(BIN)/python examples/mechanics.py

test: $(VENV)/.test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# With flags of XLA set, if only to a blank, the tests leave them as they are: millions of steps are compiled as users have them.
test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)
	XLA_FLAGS="$${XLA_FLAGS- }" $(BIN)/python -m pytest -m long tests/verification $(PYTEST_ARGS)

test-extended: $(VENV)/.test
	$(BIN)/python -m pytest -m extended $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

format: $(VENV)/.dev
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

types: $(VENV)/.dev
	$(BIN)/python -m mypy

# More processes than most machines of a CI have cores: each takes some pages, and pages differ in length.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -j 8 -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

install: $(VENV)/.created
	@echo "installing groupoid_mech and all tools into $(VENV)"
	$(PIP) install --editable ".[test,docs,dev]"
	@touch $(VENV)/.installed && touch $(VENV)/.test $(VENV)/.docs $(VENV)/.dev

clean:
	rm -rf $(VENV) build dist docs/_build docs/jupyter_execute demo_output
	rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis

# The first interpreter that is new enough; PYTHON=... chooses another.
$(VENV)/.created:
	@found=""; \
	for candidate in $(PYTHON) python3.13 python3.12 python3.11 python; do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
	    found="$$candidate"; break; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "groupoid_mech needs Python 3.11 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1 || true)" >&2; \
	  echo "Install a newer Python, or name one: make PYTHON=python3.12 ..." >&2; \
	  exit 1; \
	fi; \
	echo "creating $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv --clear $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "$$found could not create a virtual environment (on Debian: install python3-venv)" >&2; \
	  exit 1; \
	}
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	@echo "installing groupoid_mech into $(VENV) (the first time takes a few minutes)"
	$(PIP) install --editable .
	@touch $@

$(VENV)/.%: $(VENV)/.installed pyproject.toml
	$(PIP) install --editable ".[$*]"
	@touch $@
