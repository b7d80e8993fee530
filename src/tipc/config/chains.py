"""Which chain a config file is of: by its header, its name, or its lines, in this order.

Where the header says ``train_params`` and the name says another chain, the name wins: people choose the
script by the name, and several families copied the header of their training configs into their other files.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from tipc.config.dialects import chain_of_header
from tipc.config.layout import line_after
from tipc.config.source import Source
from tipc.kinds import (
    BENCHMARK_CHAIN,
    CHAINS,
    DY2STATIC_CHAIN,
    INFER_CHAIN,
    INFER_CPP_CHAIN,
    JS_CHAIN,
    LITE_CHAIN,
    ONNX_CHAIN,
    PIPELINE_CHAIN,
    PTQ_CHAIN,
    SERVING_CPP_CHAIN,
    SERVING_PYTHON_CHAIN,
    TRAIN_CHAIN,
)
from tipc.message import english_text

BENCHMARK_BLOCK = CHAINS[BENCHMARK_CHAIN].headers[0]  # the word of the header above the lines of a benchmark


@dataclass(frozen=True)
class Evidence:
    """One thing that tells what a file is."""

    kind: str  # header, name, lines, repository, script, chain, option
    text: str
    line: int = 0  # of the config file; 0: not in it


# The word in a ``===word===`` line → its chain.
HEADERS = {header: chain.name for chain in CHAINS.values() for header in chain.headers}

# Words that a file's name has → its chain; the first row whose words are all there.
NAMES = (
    (("paddle2onnx",), ONNX_CHAIN),
    (("serving", "cpp"), SERVING_CPP_CHAIN),
    (("serving",), SERVING_PYTHON_CHAIN),
    (("lite", "arm"), LITE_CHAIN),
    (("lite", "opencl"), LITE_CHAIN),
    (("ptq",), PTQ_CHAIN),
    (("dy2static",), DY2STATIC_CHAIN),
    (("pipeline", "python"), PIPELINE_CHAIN),
    (("infer", "cpp"), INFER_CPP_CHAIN),
    (("infer", "js"), JS_CHAIN),
    (("train", "infer"), TRAIN_CHAIN),
    (("train", "python"), TRAIN_CHAIN),
    (("infer", "python"), INFER_CHAIN),
)

# The beginning of a line → its chain. A row that stands further up decides.
LINES = (
    ("2onnx:", ONNX_CHAIN),
    ("runtime_device:", LITE_CHAIN),
    ("web_service:", SERVING_PYTHON_CHAIN),
    ("trans_model:", SERVING_CPP_CHAIN),
    ("trainer:PTQ", PTQ_CHAIN),
    ("trainer:", TRAIN_CHAIN),
    ("norm_train:", TRAIN_CHAIN),
    ("gpu_list:", TRAIN_CHAIN),
    ("use_tensorrt ", INFER_CPP_CHAIN),
)

_HEADER = re.compile(r"[\ufeff\s]*={3,}\s*([\w.\-]+)")


def chain_of(source: Source) -> tuple[str, tuple[Evidence, ...]]:
    """The chain of a file and what tells it; an empty chain where nothing does."""
    header, header_evidence = _by_header(source)
    named, name_evidence = _by_name(source.path)
    if header == TRAIN_CHAIN and (benchmark := _benchmark(source)):
        return BENCHMARK_CHAIN, (benchmark, header_evidence)
    if header == TRAIN_CHAIN and named not in ("", TRAIN_CHAIN, INFER_CHAIN):
        return named, (name_evidence, header_evidence)
    if header:
        return header, (header_evidence,)
    if named:
        return named, (name_evidence,)
    return _by_lines(source)


def has_benchmark(source: Source) -> bool:
    """Whether a training config says what benchmark_train.sh measures."""
    return line_after(source, BENCHMARK_BLOCK) > 0


def _benchmark(source: Source) -> Evidence | None:
    """The line that only benchmark_train.sh reads: ``bs_item:`` above the interpreter."""
    for line in source.seen()[:5]:
        if line.text.startswith("bs_item:"):
            return Evidence("lines", "bs_item:", line.number)
    return None


def _by_header(source: Source) -> tuple[str, Evidence]:
    """By the first line that is a header, if no line with a value stands before it."""
    for line in source.seen()[:2]:
        match = _HEADER.match(line.text)
        if match is None:
            continue
        word = match[1]
        evidence = Evidence("header", word, line.number)
        if word == "serving_params":
            return _serving(source), evidence
        return HEADERS.get(word) or chain_of_header(word), evidence
    return "", Evidence("header", "")


def _serving(source: Source) -> str:
    """Of the two chains that share one header: by the name, else by the service that is started."""
    words = _words(source.path)
    if "cpp" in words:
        return SERVING_CPP_CHAIN
    if "python" in words:
        return SERVING_PYTHON_CHAIN
    if any("web_service" in line.text for line in source.lines):
        return SERVING_PYTHON_CHAIN
    return SERVING_CPP_CHAIN


def _words(path: str) -> set[str]:
    name = os.path.basename(path).lower().replace("inference", "infer")
    return set(re.split(r"[^a-z0-9]+", name))


def _by_name(path: str) -> tuple[str, Evidence]:
    words = _words(path)
    for wanted, chain in NAMES:
        if words.issuperset(wanted):
            return chain, Evidence("name", "_".join(wanted))
    return "", Evidence("name", "")


def _by_lines(source: Source) -> tuple[str, tuple[Evidence, ...]]:
    for beginning, chain in LINES:
        for line in source.lines:
            if line.text.startswith(beginning):
                return chain, (Evidence("lines", beginning, line.number),)
    keys = {line.text.partition(":")[0] for line in source.lines}
    if {"model_name", "inference"} <= keys:
        return INFER_CHAIN, (Evidence("lines", english_text("model_name, inference, and no trainer")),)
    return "", ()
