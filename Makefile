# make demo · make test · make lint · make bench · make certify: each sets up what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

TOOL := $(VENV)/.tool
ALL  := $(VENV)/.all
DEMO := zoo/classification/test_tipc/configs/mobilenet_v3_small/train_infer_python.txt

.PHONY: demo test test-fast lint bench certify browser clean

demo: $(TOOL)
	tipc run $(DEMO) lite_train_lite_infer

test: $(ALL) browser
	pytest -n 2 --dist loadgroup

test-fast: $(ALL)
	pytest -n 2 --dist loadgroup -m "not slow"

lint: $(ALL)
	ruff check .
	ruff format --check .
	mypy

bench: $(ALL)
	python benchmarks

certify: $(TOOL)
	tipc run zoo/classification/test_tipc/configs zoo/segmentation/test_tipc/configs --mode lite_train_lite_infer

# The report's tests drive a real Chromium. Where it can neither be found nor installed they are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null; } || \
	  echo "no Chromium: the browser tests will be skipped"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m pip install --user virtualenv && $(PYTHON) -m virtualenv $(VENV); }

$(TOOL): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[zoo]'
	@touch $@

$(ALL): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[zoo,dev,ray]'
	@touch $@ $(TOOL)

clean:
	rm -rf $(VENV) .tipc build dist
