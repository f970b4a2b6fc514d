# What a developer types. Everything goes into .venv. Outside of this folder there are caches (~/.cache, and ~/.calfkit for the
# embedded broker's program) and the logs of runs, in the system's folder for temporary files.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

# The first of these that is 3.11 or newer makes the virtual environment. `make PYTHON=/path/to/python3 ...` names one.
PYTHON :=
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3.13 python3.12 python3.11 python3 python)

COMPILER := A C compiler and Python's headers are needed. Debian and Ubuntu: sudo apt install gcc python3-dev; macOS: xcode-select --install

.DEFAULT_GOAL := help
.PHONY: help up test check wheel compile uncompile clean

help:
	@echo "make up      start everything on this machine; Ctrl-C stops it"
	@echo "             ONCE=1     run one turn, print it and exit"
	@echo "             ARGS=...   more for 'odradek up', see make up ARGS=--help"
	@echo "make test    run the tests on the best Kafka that this machine has"
	@echo "             ARGS=...   more for pytest, such as ARGS='tests/brokers -k embedded'"
	@echo "             ODRADEK_TEST_KAFKA=HOST:PORT, jvm, container or embedded names the Kafka"
	@echo "make check   linters, formatting, types and the direction of imports"
	@echo "make wheel   a wheel for machines like this one, with the normalizer as machine code: two thirds of the time for each stream"
	@echo "make compile the same machine code, in place; edits to its files change nothing until make compile or make uncompile"
	@echo "make uncompile  removes it again"
	@echo "make clean   remove .venv, builds and caches of this folder"

up: $(VENV)/.for-up
	@exec $(BIN)/odradek up $(if $(ONCE),--once) $(ARGS)

test: $(VENV)/.for-test
	@exec $(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.for-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

# A wheel for this Python and this kind of machine, with the normalizer as machine code (pyproject.toml lists the modules). It is
# built from a copy, since the builder puts its work among the sources, and pyproject.toml out of its own way.
wheel: $(VENV)/.for-up
	@command -v $${CC:-cc} >/dev/null || { echo "There is no C compiler. $(COMPILER)" >&2; exit 1; }
	@echo "compiling the normalizer; it takes a minute or two"
	@copy=$$(mktemp -d) && trap 'rm -rf "$$copy"' EXIT && \
	  cp -R services schemas pyproject.toml topics.yaml README.md LICENSE "$$copy" && \
	  find "$$copy" -name '*.so' -delete && \
	  HATCH_BUILD_HOOKS_ENABLE=true $(PIP) wheel --no-deps --wheel-dir dist "$$copy" >"$$copy/log" 2>&1 || \
	  { tail -n 40 "$$copy/log"; echo "It could not be compiled; nothing has changed here. $(COMPILER)" >&2; exit 1; }
	@ls -t dist/*.whl | head -n 1

compile: wheel uncompile
	@made=$$(mktemp -d) && trap 'rm -rf "$$made"' EXIT && \
	  $(BIN)/python -m zipfile -e "$$(ls -t dist/*.whl | head -n 1)" "$$made" && \
	  (cd "$$made" && find . -name '*.so' | tar cf - -T -) | tar xf - && \
	  $(BIN)/python -c 'import services.normalizer.stream as made; print("now running", made.__file__)'

uncompile:
	find services -name '*.so' -delete
	rm -f ./*__mypyc.*.so

clean: uncompile
	rm -rf $(VENV) .run dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp says that what a goal needs is installed; it is old once pyproject.toml is newer.
$(VENV)/.for-up: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing odradek into $(VENV); the first time takes a minute or two"
	@$(PIP) install -e .
	@touch $@

$(VENV)/.for-test: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing odradek and what its tests need into $(VENV)"
	@$(PIP) install -e '.[test]'
	@touch $@ $(VENV)/.for-up

$(VENV)/.for-check: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing odradek, its tests' needs and the linters into $(VENV)"
	@$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.for-test $(VENV)/.for-up

$(VENV)/pyvenv.cfg:
	@for python in $(CANDIDATES); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "$$python has no venv module. Debian and Ubuntu: sudo apt install python3-venv" >&2; exit 1; \
	  fi; \
	  echo "making $(VENV) with $$("$$python" --version)"; \
	  "$$python" -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }; \
	  exit 0; \
	done; \
	echo "Odradek needs Python 3.11 or newer, and none of these is: $(CANDIDATES)." >&2; \
	echo "Install one (Debian and Ubuntu: sudo apt install python3 python3-venv; macOS: brew install python)," >&2; \
	echo "or name one: make PYTHON=/path/to/python3 ..." >&2; \
	exit 1
