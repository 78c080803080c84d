# Every target makes what it needs: python3 (3.11 or newer), git and make are enough. uv is used where it is installed.

SHELL := /bin/sh
PYTHON := .venv/bin/python
READY := .venv/ready
# With the development tools, which nobody waits for who only wants to look.
READY_DEV := .venv/ready-dev
# What is killed at a sample of its moments by `make test` or `make contract`, and at every one by `make crash`.
KILLED := tests/crash tests/mcp/test_kill.py tests/cli/test_races.py tests/plan/test_spending.py tests/archive/test_kills.py tests/archive/test_races.py tests/landing/test_kills.py tests/landing/test_killed_runs.py tests/machine/test_slots.py tests/team/test_kills.py tests/staged/test_kills.py
# What starts many programs (agents, toolchains, installers, MCP servers and clients, racing and lying agents): with the contract suite, so that `make test` stays quick.
PROGRAMS := tests/agents/test_acp.py tests/agents/test_builtin.py tests/archive/test_broken_disks.py tests/archive/test_drafts.py \
	tests/archive/test_kills.py tests/archive/test_races.py tests/archive/test_round_trips.py tests/cli/test_doctor.py \
	tests/cli/test_sandbox.py tests/cli/test_disk.py tests/cli/test_interrupt.py tests/cli/test_races.py tests/crash \
	tests/evidence/test_toolchains.py tests/impl/test_forgeries.py tests/landing/test_kills.py tests/landing/test_killed_runs.py tests/mcp tests/plan/test_adversaries.py tests/team/test_adversaries.py \
	tests/team/test_kills.py tests/staged/test_kills.py tests/test_installer.py
COMPILE := pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	--custom-compile-command "make lock"

# pytest keeps the test files that it has compiled: each worker reads all of them.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(PYTHON) -m pytest -q -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test contract check conformance crash bench docs lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## take a small change from idea to archive, with scripted agents
	@.venv/bin/agentd demo

test: $(READY_DEV) compiled ## run the tests
	@$(PYTEST) --ignore-glob='tests/contract/test_*' $(PROGRAMS:%=--ignore=%) tests

contract: $(READY_DEV) compiled ## run real programs, lying and killed ones (a sample) too; the agents against a scripted model, cut off from the network
	@$(PYTEST) $(PROGRAMS)
	@PYTHON=$(PYTHON) tests/contract/run

check: $(READY_DEV) ## lint, format, types, conformance, generated docs
	$(PYTHON) -m ruff check --quiet
	$(PYTHON) -m ruff format --quiet --check
	$(PYTHON) -m mypy src tests $(wildcard benchmarks/*.py docs/*.py)
	$(PYTHON) -m tests.conformance
	$(if $(wildcard docs/generate.py),$(PYTHON) docs/generate.py --check)

conformance: $(READY_DEV) ## which of the numbered requirements no test proves
	@$(PYTHON) -m tests.conformance

crash: $(READY_DEV) compiled ## kill the program at every durable write and step boundary, then go on
	@$(PYTEST) $(KILLED) --crash=all -o timeout=7200

bench: $(READY_DEV) compiled ## measure; each benchmark fails beyond its own limit
	@for file in benchmarks/[!_]*.py; do echo "$$file"; $(PYTHON) "$$file" || exit; done

docs: $(READY_DEV) ## write the generated parts of the docs
	@$(PYTHON) docs/generate.py

lock: $(READY) ## lock the versions again: make lock, or make lock UPGRADE=--upgrade
	@PATH="$$PWD/.venv/bin:$$PATH"; command -v uv >/dev/null || $(PYTHON) -m pip install --quiet uv; \
	uv $(COMPILE) $(UPGRADE) --group build -o requirements/build.txt && \
	uv $(COMPILE) $(UPGRADE) pyproject.toml -o requirements/runtime.txt && \
	uv $(COMPILE) $(UPGRADE) pyproject.toml -c requirements/runtime.txt --extra dev --extra acp --extra api -o requirements/dev.txt

clean: ## remove everything the targets made
	rm -rf .venv .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist benchmarks/.cache tests/contract/node_modules
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Compiled once, as an installed package is, and not with each start: the demo starts agentd dozens of times, the tests thousands.
COMPILED := $(PYTHON) -m compileall -q src && env -u PYTHONDONTWRITEBYTECODE $(PYTHON) -m agentd workflow list >/dev/null

.PHONY: compiled
compiled: $(READY_DEV)
	@$(COMPILED)

# A copied or moved checkout holds an environment that points at the old one, so the stamp says where it was made.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

$(READY): requirements/runtime.txt requirements/build.txt requirements/install pyproject.toml
	@requirements/install runtime
	@$(COMPILED)

$(READY_DEV): requirements/dev.txt $(READY)
	@requirements/install dev
