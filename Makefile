# Needs Python >= 3.11 with pip and venv, and make; everything else is installed into .venv.
#
#   make install    create .venv and install glug into it
#   make demo       pour honey: meshes and pictures in out/honey-coil
#   make test       lint, types, and the tests that are not slow
#   make test-all   the slow tests too, and those of the optional extras
#   make clean      remove .venv, .venv-blender, the demo's output and the caches of the tools

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BLENDER := .venv-blender
DEMO := out/honey-coil
# The extras that tests use today.
EXTRAS := dev,reference,readers

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: install demo test test-all lint clean

install: $(VENV)/.installed

# A stamp file: nothing is installed again until pyproject.toml changes.
$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "glug needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.installed-extras: pyproject.toml $(VENV)/.installed
	$(PIP) -e '.[$(EXTRAS)]'
	@touch $@

# Blender is a wheel for Python 3.11 alone that wants an older NumPy, so it has an environment of its own. Its tests
# are skipped, and say so, where it cannot be installed.
$(BLENDER)/.installed:
	@for python in python3.11 $(PYTHON); do \
	    $$python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || continue; \
	    $$python -m venv $(BLENDER) && $(BLENDER)/bin/python -m pip install --quiet --disable-pip-version-check bpy && \
	        touch $@ && break; \
	done; test -e $@ || echo "Blender's wheel cannot be installed here: its tests are skipped"

demo: install
	$(BIN)/glug run honey-coil -o $(DEMO) --resume
	$(BIN)/glug validate coiling --run $(DEMO)
	@echo "Look at $(DEMO)/preview.png and $(DEMO)/preview.webp"

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# pytest comes last, so that its closing line does too.
test: install lint
	$(BIN)/python -m pytest -m "not slow"

test-all: $(VENV)/.installed-extras $(BLENDER)/.installed lint
	$(BIN)/python -m pytest

clean:
	rm -rf $(VENV) $(BLENDER) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist src/glug.egg-info
