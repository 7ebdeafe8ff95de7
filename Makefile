# Every target installs what it needs: Python 3.11+, make and a network are enough. `make` alone lists the targets.
.DEFAULT_GOAL := help
BIN := .venv/bin
CHAOS_SEED ?= $(shell date +%s)
DIST := dist
PACKAGE := slack-judge
# If it is set, each process of the tests compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

# Each command installs what it needs in .venv, and removes nothing that another one has installed.
FOR_DEMO := .venv/.demo
FOR_RUN := .venv/.run
FOR_SITE := .venv/.site
READY := .venv/.ready
$(FOR_DEMO): WITH := --no-dev --inexact --extra demo
$(FOR_RUN): WITH := --no-dev --inexact --extra postgres
$(FOR_SITE): WITH := --inexact --group docs
$(READY): WITH := --all-extras --all-groups

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

$(FOR_DEMO) $(FOR_RUN) $(FOR_SITE) $(READY): pyproject.toml sandbox/pyproject.toml uv.lock tools/setup
	@sh tools/setup $(WITH)
	@touch $@

setup: $(READY) ## make .venv from uv.lock, with all that any command needs

demo: $(FOR_DEMO) ## the bot beside a pocket Slack, in the browser; without a terminal or with ARGS=--script an example as text
	@$(BIN)/judge-bot demo $(ARGS)

run: $(FOR_RUN) ## the bot, with the settings in .env
	@$(BIN)/judge-bot serve

doctor: $(FOR_RUN) ## check tokens, scopes, database and model
	@$(BIN)/judge-bot doctor

sandbox: $(FOR_DEMO) ## the pocket Slack alone, for a Bolt app of your own
	@$(BIN)/pocket-slack --manifest manifest.yml --port 8123

test: $(READY) ## the tests, without the pocket Slack's, the slow ones and those that need a browser
	@$(BIN)/pytest --ignore=tests/browser --ignore=tests/model --ignore=tests/slow -m "not slow" --numprocesses=4 --dist=worksteal

test-sandbox: $(READY) ## the tests of the pocket Slack, without its page
	@$(BIN)/pytest --ignore=sandbox/tests/page sandbox/tests

test-slow: $(READY) ## kills, storms, replicas, killed databases, simulations, builds
	@$(BIN)/pytest -m slow --numprocesses=4 --dist=worksteal $$(grep --recursive --files-with-matches --include='test_*.py' 'mark\.slow' tests)

test-model: $(READY) ## the judge with a real, very small model on llama.cpp's server (downloads 127 MB, takes minutes)
	@sh tools/model
	@$(BIN)/pytest tests/model

texts: $(READY) ## write the files that the tests compare texts with anew; review the diff
	@$(BIN)/pytest --quiet --snapshot-update $$(grep --recursive --files-with-matches --include='test_*.py' -e SnapshotAssertion -e update_snapshots tests)

screenshots: $(READY) ## the README's pictures, from the demo
	@sh tools/browser
	@$(BIN)/python -m tools.screenshots

test-browser: $(READY) ## the tests of the pocket Slack's page, and of the bot in it, in Chromium
	@sh tools/browser
	@$(BIN)/pytest --numprocesses=2 --dist=worksteal sandbox/tests/page tests/browser

chaos: $(READY) ## kill the bot at every instant, ten times each: make chaos CHAOS_SEED=7
	@CHAOS_ROUNDS=10 CHAOS_SEED=$(CHAOS_SEED) $(BIN)/pytest -s tests/slow/test_*.py tests/features/*/test_*killed*.py

lint: $(READY) ## format, lint, types and the one-way imports
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

density: $(READY) ## how much a reader of the code has to take in; nothing fails because of it
	@$(BIN)/python -m tools.density judge bot

site: $(FOR_SITE) ## the documentation as a site, in build/site; a broken link or anchor fails it
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict # --quiet would drop the warnings before they count
	@echo "site: build/site is ready; $(BIN)/python -m http.server --directory build/site shows it, with the search"

audit: $(FOR_RUN) ## look up uv.lock among the known vulnerabilities
	@sh tools/audit

sbom: $(FOR_RUN) ## what comes with PACKAGE, all extras, as CycloneDX: dist/slack-judge.cdx.json
	@mkdir -p $(DIST)
	@$$([ -x .uv/bin/uv ] && echo .uv/bin/uv || echo uv) export --quiet --frozen --no-dev --all-extras --package $(PACKAGE) \
		--preview-features sbom-export --format cyclonedx1.5 --output-file $(DIST)/$(PACKAGE).cdx.json

check: lint site test test-sandbox test-slow test-browser test-model ## all quality gates

parser-report: $(READY) ## how labelled judge outputs are read: make parser-report DATA="a.jsonl b.jsonl"
	@$(BIN)/python bench/parser_report.py $(DATA)

bench: $(READY) ## what judging, the bot and a digest cost; docs/measurements.md has the figures (27 minutes)
	@$(BIN)/python -m bench.agreement
	@$(BIN)/python -m bench.shares
	@$(BIN)/python -m bench.severity
	@$(BIN)/python -m bench.labels
	@$(BIN)/python -m bench.planning
	@$(BIN)/python -m bench.judging
	@$(BIN)/python -m bench.watched
	@$(BIN)/python -m bench.bot $(DATABASE_URL)
	@$(BIN)/python -m bench.processes
	@$(BIN)/python -m bench.flood $(DATABASE_URL)
	@$(BIN)/python -m bench.watch 20
	@$(BIN)/python -m bench.digest

format: $(READY) ## write the format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## remove what setup made
	rm -rf .venv .uv

.PHONY: help setup demo run doctor sandbox test test-sandbox test-slow test-browser test-model texts screenshots lint density site audit sbom check parser-report bench format chaos clean
