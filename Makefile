# Every target sets itself up from Python 3.11 or later: `make demo`, `make test`.

PYTHON ?= python3
VENV := .venv
READY := $(VENV)/ready
# pytest's expression of markers, see tests/README.md.
SUITE := not slow and not long and not study
# On two cores, three processes are faster than two, because tests wait for other processes, clusters and stores.
PROCESSES := 3

.PHONY: demo test suite checks bench docs format lock

# Threads of linear algebra wait actively, which takes the time of other processes.
suite docs: export OMP_NUM_THREADS := 1

# Build vectors from the docstrings of the installed packages, and a page with maps of words: demo/report.html.
demo: $(READY)
	rm -rf demo
	$(VENV)/bin/bitcipher demo --out demo

# All checks, then the fast tests. `make test TESTS="tests/bitcipher -k merge"` runs some of them.
test: checks suite

# The tests alone. `make suite SUITE="not slow and not study"` runs also those that only CI runs, of which some need
# Chromium (.ci/chromium).
suite: $(READY)
	TMPDIR=$$(.ci/scratch) $(VENV)/bin/python -m pytest --numprocesses $(PROCESSES) --dist loadgroup -m "$(SUITE)" $(TESTS)

# Style, import contracts and types.
checks: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports
	$(VENV)/bin/basedpyright

# Small computations against plain references: prints what became slower than tests/benchmarks/ratios.json, and fails only
# if a result is wrong.
bench: $(READY)
	$(VENV)/bin/python tests/benchmarks/check_ratios.py

# The API reference, the pages, and the executed notebooks, in site/. Warnings are errors.
docs: $(READY)
	$(VENV)/bin/python docs/build_pages.py build/docs
	$(VENV)/bin/mkdocs build --strict --quiet

format: $(READY)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	touch $(READY)

# Write the newest versions of all dependencies to constraints.txt. torch keeps its pin: the newest version would bring
# gigabytes of another build.
lock:
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)-lock/bin/python -m pip install --quiet ".[test]"
	(head -n 1 constraints.txt; $(VENV)-lock/bin/python -m pip freeze --exclude bitcipher | sed 's/+cpu//') > constraints.new
	mv constraints.new constraints.txt
	rm -rf $(VENV)-lock
