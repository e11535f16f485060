# make demo      what netdiag does, on a broken five-broker compose file; needs no Docker, no Java and no compiler
# make native    builds the capture engine of native/ as wheels hold it and installs it into .venv; needs Rust
# make wheels    wheels of the capture engine for other machines, into dist; needs Rust
# make test      everything that a change must pass; CI runs the same
# make bars      the long measurements, resumable; writes docs/bars.md (make bars BARS="name ..." for some)
# make bench     netdiag exchanges against tshark on captures made here; writes docs/benchmarks.md (BENCH="--help" for more)
# make warm      keeps Java's classes of Spark: netdiag analyze starts sooner then
# make lint      ruff, mypy, import-linter
# make format    lets ruff rewrite the sources
# make examples  runs the commands that README.md and docs show, writes their output into them
# make docs      writes docs/rules and docs/proofs.md from the rules, docs/tables.md from the schemas, share from --help
# make site      builds the documentation of docs as a site into .cache/site; fails at a broken link
# make clean     removes what these made

BIN := .venv/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/pip install --quiet

.PHONY: help demo test native wheels bars bench warm lint format examples docs site constraints clean
help:
	@sed -n 's/^# make/make/p' Makefile

demo: .venv/.bare
	@.ci/native .venv || echo 'going on without it' >&2
	@sh docs/demo.sh $(BIN)/netdiag

test: .venv/.full
	@$(BIN)/python -m tests.stages

lint: .venv/.full
	@$(BIN)/python -m tests.stages --only lint

native: .venv/.bare
	@.ci/native .venv dist

wheels: .venv/.bare
	@.ci/wheels .venv

bars: .venv/.full
	@.ci/native .venv dist
	@$(BIN)/python -m tests.bars $(BARS)

warm: .venv/.full
	@$(BIN)/netdiag doctor --warm

bench: .venv/.full
	@.ci/native .venv dist
	@$(BIN)/python -m tests.bench $(BENCH)

format: .venv/.full
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

examples: .venv/.full
	@$(BIN)/python -m tests.house.examples

docs: .venv/.full
	@$(BIN)/python -m tests.house.rule_pages
	@$(BIN)/python -m tests.live.proofs
	@$(BIN)/python -m tests.house.tables_page
	@$(BIN)/python tools/generate_manual.py

site: .venv/.full
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.venv/.bare: pyproject.toml .ci/locked/bare.txt .ci/locked/build.txt netdiag/__init__.py
	@.ci/venv .venv
	@echo 'installing netdiag into .venv' >&2
	@$(BIN)/pip uninstall --yes -qq netdiag  # its name in older checkouts: both would own bin/netdiag
	@$(PIP) --require-hashes --requirement .ci/locked/build.txt
	@$(PIP) --require-hashes --requirement .ci/locked/bare.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.full: .venv/.bare .ci/locked/test.txt
	@echo 'installing what the tests need into .venv' >&2
	@$(PIP) --require-hashes --requirement .ci/locked/test.txt
	@touch $@

# The versions that make and CI use, for every platform and Python that netdiag runs on, with the hash of every file.
constraints: .venv/.full
	@$(PIP) --group pin
	@.ci/lock $(BIN)/uv --upgrade

clean:
	rm -rf .venv .cache dist build native/target .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
