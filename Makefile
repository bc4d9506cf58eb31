# Everything here sets itself up from a bare Python 3.11 or later: `make demo`, `make test`.

PYTHON ?= python3
VENV := .venv
READY := $(VENV)/ready

.PHONY: demo test test-long format lock

# Builds word vectors from English that is on this machine, and shows them; see demo/report.html.
demo: $(READY)
	rm -rf demo
	$(VENV)/bin/bitcipher demo --out demo

# Style, then all fast tests in two processes of one thread; `make test TESTS="tests/bitcipher -k merge"` runs some.
test: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest --numprocesses 2 --dist loadgroup -m "not slow and not long" $(TESTS)

# What takes longer, such as faults on real clusters, and pages in a browser: CI runs it after the fast tests.
test-long: $(READY)
	.ci/chromium
	$(VENV)/bin/python -m pytest -m "long and not slow"

format: $(READY)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable ".[report,test]"
	touch $(READY)

# New versions of everything: torch keeps its pin, for the newest would bring gigabytes of another build.
lock:
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)-lock/bin/python -m pip install --quiet ".[report,s3,cluster,search,training,test]"
	(head -n 1 constraints.txt; $(VENV)-lock/bin/python -m pip freeze --exclude bitcipher | sed 's/+cpu//') > constraints.new
	mv constraints.new constraints.txt
	rm -rf $(VENV)-lock
