# Needs Python >= 3.11 with pip and venv, and make; everything else is installed into .venv.
#
#   make install    create .venv and install glug into it, with what rigid bodies, exports and tests need
#   make demo       pour honey: meshes and pictures in out/honey-coil
#   make gallery    run and render every library scene for docs/gallery.md; goes on where it was stopped
#   make kernels    compile the kernels that the package carries: src/glug/shipped
#   make test       lint, types, and the tests that are not slow
#   make test-all   the slow tests too, and those of the optional extras
#   make soak       hours: generated scenes, killed runs, a tank that is never at rest
#   make oldest     the tests that are not slow, with the oldest dependencies that are allowed
#   make studies    reproduce the published tables: pages in docs/studies
#   make clean      remove .venv, .venv-blender, .venv-oldest, the demo's output and the caches of the tools

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BLENDER := .venv-blender
OLDEST := .venv-oldest
DEMO := out/honey-coil
# The extras that tests use today.
EXTRAS := dev,readers,browser,render,video

# The versions in constraints.txt are those that the compiled kernels of the package fit.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: install demo gallery kernels studies test test-all soak oldest lint chromium viewer-libraries clean

install: $(VENV)/.installed

# Stamp files: nothing is installed again until pyproject.toml changes. The first is all that the demo needs.
$(VENV)/.installed-glug: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "glug needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	@touch $@

$(VENV)/.installed: $(VENV)/.installed-glug
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

# Chromium is the system's own. Tests of the viewer's page are skipped, and say so, where it is not and cannot be had.
chromium:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	    command -v $$name >/dev/null && exit 0; done; \
	    (test "$$(id -u)" = 0 && apt-get update --quiet && apt-get install --yes --quiet chromium) >/dev/null 2>&1 || \
	    echo "Chromium is not here and cannot be installed: the tests of the viewer's page are skipped"

# What the viewer's page is built on, bundled into one file that the package carries. Needs Node; run it when the
# versions in vendor/package.json change.
VENDOR := src/glug/view/browser/web/vendor
viewer-libraries:
	mkdir -p build/viewer && cp $(VENDOR)/package.json $(VENDOR)/entry.js build/viewer/
	cd build/viewer && npm install --no-audit --no-fund && node_modules/.bin/esbuild entry.js --bundle --minify \
	    --format=esm --legal-comments=eof --outfile=three.js
	cp build/viewer/three.js $(VENDOR)/three.js && cp build/viewer/node_modules/uplot/dist/uPlot.min.css $(VENDOR)/uplot.css

demo: $(VENV)/.installed-glug
	$(BIN)/glug run honey-coil -o $(DEMO) --resume
	$(BIN)/glug validate coiling --run $(DEMO)
	@echo "Look at $(DEMO)/preview.png and $(DEMO)/preview.webp"

gallery: $(VENV)/.installed-extras
	$(BIN)/python docs/gallery.py

# Compiled kernels of all library scenes, and the list of them. Takes minutes; `make kernels KNOWN=--known` leaves the list
# as it is and compiles what was edited.
kernels: install
	$(BIN)/python -m glug.simulation.warm_up.shipping $(KNOWN)

# Every published table up to 256 cells along a side, and the other studies: docs/studies.
studies: install
	$(BIN)/glug validate --all --max 256 --pages docs/studies

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# pytest comes last, so that its closing line does too. Two processes: most tests keep one core busy.
test: install lint
	$(BIN)/python -m pytest -m "not slow" -n 2

test-all: $(VENV)/.installed-extras $(BLENDER)/.installed chromium lint
	$(BIN)/python -m pytest

# What only many tries and long runs find. GLUG_FUZZ_SEED says where generated scenes begin.
soak: install
	GLUG_FUZZ=20000 GLUG_FUZZ_RUNS=500 GLUG_KILLS=30 GLUG_SOAK_MINUTES=120 $(BIN)/python -m pytest -s tests/fuzz

# The oldest version of every dependency that pyproject.toml allows.
oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -m "not slow" -n 2

$(OLDEST)/.installed: pyproject.toml
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(BLENDER) $(OLDEST) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist src/glug.egg-info
