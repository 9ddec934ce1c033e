# Verbs of gpu-queue-lab. `make` alone lists them.
SHELL := /bin/sh
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# npm's packages for lint and tests; without Node.js those that need them are skipped.
NPM := $(if $(shell command -v npm),$(VENV)/npm/.done)
CATALOGS := $(patsubst %.po,%.mo,$(wildcard lab/locale/*/LC_MESSAGES/lab.po))

# Ansible, for the target vm only.
ANSIBLE := $(if $(filter vm,$(TARGET)),$(VENV)/.vm)

# Words of the caller reach the commands as environment variables, never as shell text.
export STEP NAME LAB YES OUT FORMAT JOB NAMESPACE ADDRESS TLS_CERT TLS_KEY FAULT WORLD N SEED MINUTES

.PHONY: help provision open hub-demo status logs down reset destroy step start labs check why hint solve shell history report doctor cache prune bundle \
	test test-vm test-full lint format bench kill-matrix mutants faults soak golden catalog lock clean

provision: $(VENV)/.run $(ANSIBLE) $(CATALOGS) ## bring the lab up (builds its parts the first time)
	@$(BIN)/lab provision

open: $(VENV)/.run $(CATALOGS) ## the page in a browser: steps, terminal, queue as a picture
	@$(BIN)/lab open $${ADDRESS:+--address="$$ADDRESS"} $${TLS_CERT:+--tls-cert="$$TLS_CERT"} $${TLS_KEY:+--tls-key="$$TLS_KEY"}

step: $(VENV)/.run $(CATALOGS) ## show the text of a step: make step STEP=1
	@$(BIN)/lab step -- "$$STEP"

start: $(VENV)/.run $(CATALOGS) ## lay out what a step finds in the cluster: make start STEP=3
	@$(BIN)/lab start -- "$$STEP"

labs: $(VENV)/.run $(CATALOGS) ## the labs there are, and how far you are; LAB= chooses one
	@$(BIN)/lab labs

shell: $(VENV)/.run $(CATALOGS) ## a shell in your folder, with kubectl ready
	@$(BIN)/lab shell

check: $(VENV)/.run $(CATALOGS) ## grade a step: make check STEP=5, or STEP=all
	@$(BIN)/lab check -- "$$STEP"

hint: $(VENV)/.run $(CATALOGS) ## the next hint for what failed: make hint STEP=5
	@$(BIN)/lab hint -- "$$STEP"

why: $(VENV)/.run $(CATALOGS) ## why a Job waits or does not run: make why JOB=train-3
	@$(BIN)/lab why $${NAMESPACE:+--namespace="$$NAMESPACE"} -- "$$JOB"

solve: $(VENV)/.run $(CATALOGS) ## play the answers of a step: make solve STEP=5, or STEP=all
	@$(BIN)/lab solve -- "$$STEP"

history: $(VENV)/.run $(CATALOGS) ## the lab's story: what was made, who waited, who was let in
	@$(BIN)/lab history

report: $(VENV)/.run $(CATALOGS) ## report on all steps: FORMAT=text|json|junit|html OUT=file
	@$(BIN)/lab report --format "$${FORMAT:-text}" $${OUT:+--out="$$OUT"}

doctor: $(VENV)/.run $(CATALOGS) ## examine machine, place and grader; nothing is changed
	@$(BIN)/lab doctor

status: $(VENV)/.run $(CATALOGS) ## what runs, what is ready, where things are
	@$(BIN)/lab status

logs: $(VENV)/.run $(CATALOGS) ## last lines of a component's log: make logs NAME=kueue
	@$(BIN)/lab logs -- "$$NAME"

reset: $(VENV)/.run $(CATALOGS) ## cluster, workspace and progress back to the start
	@$(BIN)/lab reset

down: $(VENV)/.run $(CATALOGS) ## stop every process; cluster, files and progress stay
	@$(BIN)/lab down

destroy: $(VENV)/.run $(CATALOGS) ## remove the place; the cache of built parts stays
	@$(BIN)/lab destroy

cache: $(VENV)/.run ## how large the cache of built parts is
	@$(BIN)/lab cache

prune: $(VENV)/.run ## remove built parts that this checkout does not use
	@$(BIN)/lab cache --prune

bundle: $(VENV)/.run ## what a place is made from, into OUT=; also for TARGET=vm
	@$(BIN)/lab bundle $${OUT:+"$$OUT"}

help: ## list what there is to do
	@$(PYTHON) -m lab.verbs

# --- for developers ---

hub-demo: $(VENV)/.hub $(CATALOGS) $(NPM) ## JupyterHub with two learners on this machine, a demo
	@$(BIN)/lab hub-demo

test: $(VENV)/.dev $(VENV)/.hub $(CATALOGS) $(NPM) ## the tests: unit, checks, the real place (about 15 minutes)
	@KEEP_GO_CACHE=1 $(BIN)/python -m pytest -n 2 -m "not full"

test-vm: $(VENV)/.dev $(VENV)/.hub $(CATALOGS) $(NPM) ## the vm target, whole, on a real machine (12 minutes)
	@$(BIN)/python -m tests.machines needs
	@KEEP_GO_CACHE=1 $(BIN)/python -m pytest -m vm tests/integration/vm

test-full: $(VENV)/.dev $(VENV)/.hub $(CATALOGS) $(NPM) ## all tests, with the whole kits of cases and all faults
	@KEEP_GO_CACHE=1 $(BIN)/python -m pytest

lint: $(VENV)/.dev $(NPM) ## ruff, mypy, import-linter, yamllint, eslint where Node.js is
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/yamllint --strict .
	@PATH="$(CURDIR)/$(BIN):$$PATH" ansible-lint -q --offline provision/vm/ansible
	@ANSIBLE_LOCALHOST_WARNING=False $(BIN)/ansible-playbook --syntax-check --inventory tests/unit/vm/inventory.yaml \
	provision/vm/ansible/site.yml provision/vm/ansible/reset.yml >/dev/null
	@if [ -e $(VENV)/npm/.done ]; then \
	$(VENV)/npm/node_modules/.bin/eslint --config tests/web/eslint.config.mjs lab/web/static tests/web; \
	else echo "eslint: skipped, there is no Node.js or no npm registry"; fi

format: $(VENV)/.dev ## put the code into its form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.dev ## measure: start, reset, checks, memory, re-admission
	@$(BIN)/python -m tests.bench

kill-matrix: $(VENV)/.dev $(CATALOGS) ## play the whole kit of cases: which check catches which
	@KEEP_GO_CACHE=1 $(BIN)/python -m tests.grading.matrix

mutants: $(VENV)/.dev $(CATALOGS) ## play all mutants of the answers: none may pass
	@KEEP_GO_CACHE=1 $(BIN)/python -m tests.grading.mutants

faults: $(VENV)/.dev $(CATALOGS) ## break a place in many ways, grade all steps: FAULT=webhook
	@$(BIN)/python -m tests.faults

soak: $(VENV)/.dev $(CATALOGS) ## play the lab while components are killed: make soak N=50
	@$(BIN)/python -m tests.soak

golden: $(VENV)/.dev ## write the golden files anew; read the diff before a commit
	@GOLDEN=write $(BIN)/python -m pytest -q -m golden

catalog: $(VENV)/.dev ## collect the sentences, bring the Korean catalog up to date
	@$(BIN)/python -m tests.catalog

lock: ## resolve the Python dependencies anew (needs uv)
	@sh requirements/lock.sh

clean: ## remove the virtual environment and what tools left behind
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis $(CATALOGS)

%.mo: %.po | $(VENV)/.run
	@$(BIN)/pybabel --quiet compile --input-file $< --output-file $@

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; \
	sys.exit(0 if v >= (3, 11) else "Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Next: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV) || { echo "Next: install the venv module of Python (Debian: apt-get install python3-venv)." >&2; rm -rf $(VENV); exit 3; }
	@touch $@

$(VENV)/.run: requirements/run.txt pyproject.toml | $(VENV)/.python
	@echo "Installing Python packages ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.vm: requirements/vm.txt $(VENV)/.run
	@echo "Installing Ansible ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/vm.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	@echo "Installing Python packages for development ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.hub: requirements/hub.txt $(VENV)/.run
	@echo "Installing Python packages for JupyterHub ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/hub.txt
	@touch $@

$(VENV)/npm/.done: lab/web/npm/package-lock.json | $(VENV)/.python
	@rm -rf $(VENV)/npm && mkdir -p $(VENV)/npm && cp lab/web/npm/package.json lab/web/npm/package-lock.json $(VENV)/npm/
	@npm ci --prefix $(VENV)/npm --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@ \
	|| echo "npm's packages could not be had: what needs them is skipped."
