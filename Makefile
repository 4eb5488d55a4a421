# A fresh clone needs only `make reproduce` or `make check`: each target first makes .venv, once.
BIN := .venv/bin
PYTHON ?= python3
READY := .venv/.ready
INSTALL := -m pip install -qq --disable-pip-version-check

.DEFAULT_GOAL := targets
.PHONY: targets setup reproduce posterior check test bench docs fix lock

targets: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## install the package and its developer tools into .venv

# pip is upgraded first: those that come with Python 3.11 do not know --group.
$(READY): pyproject.toml constraints.txt
	@echo "installing into .venv; this takes a minute, once" >&2
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) -U "pip>=25.1"
	$(BIN)/python $(INSTALL) -e . --group dev -c constraints.txt
	@touch $@

reproduce: setup ## the published comparison, recomputed
	$(BIN)/jalapeno reproduce

posterior: setup ## Jalapeño's posterior: the draws that ship, and docs/posterior.md
	$(BIN)/jalapeno posterior --docs docs/posterior.md \
		--ship src/jalapeno/catalogue/data/posterior/jalapeno.toml

check: setup ## everything CI checks
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist loadgroup -q

test: setup ## the tests alone
	$(BIN)/pytest

bench: setup ## how fast the twin is
	$(BIN)/python -m benchmarks --docs docs/speed.md

docs: setup ## regenerate the tables in docs/
	$(BIN)/jalapeno audit --docs docs/audit.md
	$(BIN)/jalapeno validate --docs docs/validation.md

fix: setup ## format, and repair what can be repaired
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: ## choose versions anew and write them to constraints.txt
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python $(INSTALL) -U "pip>=25.1"
	.venv-lock/bin/python $(INSTALL) -e . --group dev
	echo "# The tested versions (Linux, Python 3.11). Written by 'make lock'; do not edit." > constraints.txt
	.venv-lock/bin/python -m pip freeze --exclude-editable >> constraints.txt
	rm -r .venv-lock
