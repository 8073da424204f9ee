# Two commands: `make demo` and `make test`. Both set everything up first, in .venv and nowhere else.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo-out
SCENES ?= 3
SEED ?= 0

.PHONY: help demo test lint bench clean
help:
	@echo "make demo   set up, write demo scans ($(SCENES) as ScanNet, 1 as ScanNet++), build a benchmark from them, score three baselines, draw pages"
	@echo "make test   set up and run the tests"
	@echo "make lint   ruff and mypy"
	@echo "make bench  the benchmarks, by hand: ratios within one run"

$(VENV)/.run-ready: pyproject.toml scripts/system-libs.sh
	@sh scripts/system-libs.sh venv "$(PYTHON)"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@echo "installing spacecast and its packages into $(VENV) (once, a minute or two)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[video]'
	@sh scripts/system-libs.sh open3d $(BIN)/python
	@touch $@

$(VENV)/.dev-ready: $(VENV)/.run-ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/.run-ready
	@rm -rf $(DEMO)
	$(BIN)/spacecast demo $(DEMO)/raw --scenes $(SCENES) --seed $(SEED)
	$(BIN)/spacecast demo $(DEMO)/raw --scenes 1 --seed $$(($(SEED) + 1)) --layout scannetpp
	$(BIN)/spacecast check $(DEMO)/raw
	$(BIN)/spacecast build $(DEMO)/raw $(DEMO)/benchmark --seed $(SEED) --workers 2
	$(BIN)/spacecast verify $(DEMO)/benchmark $(DEMO)/raw
	@for model in random majority oracle; do \
		$(BIN)/spacecast evaluate $(DEMO)/benchmark $(DEMO)/$$model --model $$model || exit $$?; done
	$(BIN)/spacecast report $(DEMO)/benchmark $(DEMO)/site --scores $(DEMO)/random $(DEMO)/majority $(DEMO)/oracle
	@echo
	@echo "raw scans      $(DEMO)/raw"
	@echo "dataset        $(DEMO)/benchmark"
	@echo "scores         $(DEMO)/random/report.json, $(DEMO)/majority/report.json, $(DEMO)/oracle/report.json"
	@echo "contact sheet  $(DEMO)/site/contact_sheet.png"
	@echo "pages          $(DEMO)/site/index.html"

test: $(VENV)/.dev-ready
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.dev-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev-ready
	@test -d $(DEMO)/bench-raw || $(BIN)/spacecast demo $(DEMO)/bench-raw --scenes 20
	@for file in build scene sight chains; do echo "== $$file"; $(BIN)/python benchmarks/$$file.py || exit $$?; done
	@for file in attachment_truth interventions; do echo "== $$file"; \
		$(BIN)/python benchmarks/$$file.py $(DEMO)/bench-raw || exit $$?; done
	@echo "== build_scale"; $(BIN)/python benchmarks/build_scale.py $(DEMO)/bench-raw 5 20

clean:
	rm -rf $(DEMO) $(VENV)
