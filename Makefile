# Two commands are all that a new machine needs: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Python reads the folder of an editable install in the letters of the locale, and ends where LC_ALL=C has none for it.
ifneq (,$(shell printf %s '$(CURDIR)' | LC_ALL=C grep '[^ -~]'))
export LC_ALL := C.UTF-8
endif

.PHONY: demo test test-full test-matrix lint bench simulate mutants coverage docs release clean machine

$(VENV)/core: pyproject.toml
	$(BIN)/python -m pip --version >/dev/null 2>&1 || { sh tests/machine.sh python $(PYTHON) && $(PYTHON) -m venv --clear $(VENV); }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/test: pyproject.toml $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

# ranx brings a compiler of its own and spaCy a pipeline, so only the full run and the benchmarks install them.
$(VENV)/full: pyproject.toml $(VENV)/test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[full]'
	touch $@

demo: $(VENV)/core
	$(BIN)/karat demo

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# PyEvALL pins an old numpy, so it lives apart; where it cannot be installed its live tests are skipped, with the reason.
.oracle/ready: tests/oracle/environment.py $(VENV)/test
	$(BIN)/python -m tests.oracle

test: lint machine .oracle/ready
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-full: lint machine .oracle/ready $(VENV)/full
	$(BIN)/python -m pytest -q -n 2

machine:
	sh tests/machine.sh

bench: machine $(VENV)/full
	$(BIN)/python -m benchmarks

# Hours: two thousand data sets for every cell of the tables in docs/statistics.md that are not yet in benchmarks/simulated.json.
SETS ?= 2000
simulate: $(VENV)/test
	$(BIN)/python -m benchmarks.simulate $(SETS)

# Which lines and branches of contexts, stats, read and align the quick tests take; less than 95 % of both, or of branches alone,
# fails. Half an hour.
# Browsers, servers, Spark and other processes are left out: what runs there is not seen.
ELSEWHERE := web report store package docs engines/test_spark.py engines/test_memory.py
coverage: $(VENV)/test
	$(BIN)/python -m coverage run -m pytest -q -n 0 -m "not slow" src tests $(addprefix --ignore=tests/,$(ELSEWHERE))
	$(BIN)/python -m coverage report
	$(BIN)/python -m tests.branches

# Planted faults, one by one, of contexts, stats, align and read: an hour for 200 of them. SAMPLE and SEED choose others.
# Which tests reach what is noted first, in .reached.json: delete it after changes.
SAMPLE ?= 200
SEED ?= 1
mutants: $(VENV)/full
	$(BIN)/python -m tests.mutants --sample $(SAMPLE) --seed $(SEED)

$(VENV)/release: pyproject.toml $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	touch $@

# Byte for byte the same from the same commit, whenever and wherever it is made.
release: $(VENV)/release
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 315532800) $(BIN)/python -m build --quiet --outdir dist .
	$(BIN)/python deploy/sbom.py > dist/karat.cdx.json
	cd dist && sha256sum * > SHA256SUMS

# The wheel under every Python that is here, with the oldest and the newest dependencies: ten minutes.
test-matrix: release
	$(BIN)/python deploy/matrix.py dist/*.whl

clean:
	rm -rf $(VENV) .oracle

$(VENV)/docs: pyproject.toml $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

# The site is build/site/index.html: open it, no server needed.
docs: $(VENV)/docs
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
