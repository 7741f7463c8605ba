# Two commands do everything on a fresh machine with Python and pip: make demo, make test.
# A third, make docs, writes the documentation as a site.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo
# Processes that run the tests.
WORKERS ?= 2

.PHONY: demo test quick lint types docs clean
# Two installations at once would spoil each other, and one a demo that runs. Nothing is lost: demo
# and tests keep all cores busy by themselves.
.NOTPARALLEL:

# A small vocabulary leaves a third of the numerals unknown: the case the models differ in.
demo: $(VENV)/.installed
	@echo "An invented article with seven errors planted in it, and what is found:"
	$(BIN)/numerate check examples/article.md || test $$? -eq 1
	$(BIN)/numerate prepare cardiac --documents 2000 --seed 1 --out $(DEMO)/cardiac --force
	$(BIN)/numerate reproduce $(DEMO)/cardiac --out $(DEMO) \
		--vocabulary 500 --batch-size 20 --epochs 12
	$(BIN)/numerate predict $(DEMO)/runs/combination "Left ventricular ejection fraction is"
	$(BIN)/numerate check examples/report.txt --model $(DEMO)/runs/combination || test $$? -eq 1

test: $(VENV)/.installed-dev lint types
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 40

# The core's tests that need no trained model, no servers and no cluster: below a minute on two idle cores.
QUICK := tests/text tests/rules tests/documents tests/reports tests/test_numeral.py tests/test_configuration.py \
	$(patsubst %,tests/storage/test_%.py,atomic hashes records) \
	$(patsubst %,tests/proofread/test_%.py,baseline fixing suppression tested_numbers)
quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder \
		--ignore tests/documents/test_wheel.py $(QUICK)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --site-dir site

# torch is pinned; constraints.txt says which build of it that is, and README.md how to have the one for CPUs.
INSTALL = $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) .
	touch $@

# All that .installed stands for, and more: one installation is enough for both.
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) '.[dev]'
	touch $(VENV)/.installed $@

clean:
	rm -rf $(VENV) $(DEMO) build dist site
