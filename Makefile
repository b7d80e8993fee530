# make demo · make test · make lint · make bench · make certify: each sets up what it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

TOOL := $(VENV)/.tool
ALL  := $(VENV)/.all
# The zoo runs on paddle 3.1 to 3.3; the figures of README and docs/ are of 3.1.
PADDLE ?= 'paddlepaddle>=3.1,<3.2'
DEMO := zoo/classification/test_tipc/configs/mobilenet_v3_small/train_infer_python.txt

.PHONY: demo test test-fast sweep lint bench certify certify-docs field field-plan browser clean

demo: $(TOOL)
	tipc run $(DEMO) lite_train_lite_infer
	@case "$${LC_ALL:-$$LANG}" in zh*) printf '\n接下来在这个 shell 中输入（README.zh-CN.md 有导览）：\n';; \
	  *) printf '\nYour turn, in this shell (README has a tour):\n';; esac
	@printf '  %s\n  %s\n' 'source $(BIN)/activate' 'tipc report --open'

test: $(ALL) browser
	pytest -n 2 --dist loadgroup

test-fast: $(ALL)
	pytest -n 2 --dist loadgroup -m "not slow"

# The fault suite whole: a full disk at every write.
sweep: $(ALL)
	TIPC_SWEEP=1 pytest -n 2 tests/run/test_no_room.py

lint: $(ALL)
	ruff check .
	ruff format --check .
	mypy

bench: $(ALL)
	python benchmarks

certify: $(TOOL)
	tipc run zoo/classification/test_tipc/configs zoo/segmentation/test_tipc/configs --mode lite_train_lite_infer

# After certify: the zoo's result documents and README's table, from that one run (RUN=ID for another than the newest).
certify-docs: $(TOOL)
	python zoo/certified.py $(RUN)
	tipc docs --repo zoo/classification $(RUN)
	tipc docs --repo zoo/segmentation $(RUN)

# Real checkouts below $TIPC_FIELD (PaddleSeg, PaddleClas, PaddleOCR, PaddleDetection, models): docs/field.md.
field: $(ALL)
	python -m field

field-plan: $(ALL)
	python -m field.plans

# The report's tests drive a real Chromium. Where it can neither be found nor installed they are skipped and say so.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null; } || \
	  echo "no Chromium: the browser tests will be skipped"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m pip install --user virtualenv && $(PYTHON) -m virtualenv $(VENV); }

$(TOOL): pyproject.toml zoo/paddlezoo/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e . -e zoo/paddlezoo $(PADDLE)
	@touch $@

$(ALL): pyproject.toml zoo/paddlezoo/pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -q -e '.[dev,ray]' -e zoo/paddlezoo $(PADDLE)
	@touch $@ $(TOOL)

clean:
	rm -rf $(VENV) .tipc build dist
