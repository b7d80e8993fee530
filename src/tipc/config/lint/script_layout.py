"""The layout that a script of its own reads: ``name=$(func_parser_value "${lines[N]}")``, line by line.

A script that we do not know has no table. But nearly all of them are copies whose variables kept their
names, so the first assignments tell which line is which field.
Nothing is aligned here: a line is what its number says.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tipc.config.dialects.layouts import FULL, SLIM
from tipc.config.layout import Layout, Row

# ``epoch_num=$(func_parser_params "${lines[6]}" "${MODE}")``; not indented: branches for other chains are.
_READS = re.compile(r"""^(\w+)=\$\(\s*(\w+)\s+["']?\$\{lines\[(\d+)\]\}""", re.MULTILINE)
_FEWEST = 5  # reads; with fewer it is no script that goes by line number

# The variable of a copied script → the field; a name that ends in _key, _value or _list is cut there first.
_FIELDS = {
    "python": "python",
    "epoch_num": "epoch",
    "pretrain_model": "pretrain",
    "train_param1": "train_param1",
    "trainer_norm": "norm_train",
    "norm": "norm_train",
    "norm_trainer": "norm_train",
    "trainer_py": "norm_train",
    "run_train_py": "norm_train",
    "pact": "pact_train",
    "pact_trainer": "pact_train",
    "fpgm": "fpgm_train",
    "fpgm_trainer": "fpgm_train",
    "distill": "distill_train",
    "distill_trainer": "distill_train",
    "trainer": "trainer_list",
    "gpu": "gpu_list",
    "eval_py": "eval",
    "inference_py": "inference",
    "infer_model_dir": "infer_model",
    "infer_is_quant": "infer_quant",
    "use_mkldnn": "mkldnn",
    "infer_model": "model_dir",  # ``infer_model_key`` is the option that is given the model
    "infer_img_dir": "image_dir",
}
# Lists by their nature, whatever a script calls the variable. Others count as lists by ``_list``.
_LISTS = ("gpu_list", "trainer_list")
# What every copy calls the same, so that a name which stands elsewhere is a mistake.
NAMED_ROWS = {row.name: row for layout in (SLIM, FULL) for row in layout.rows if row.reads}
_READ_AS = {"func_parser_key": "k", "func_parser_value": "v", "func_parser_params": "p"}


@lru_cache(maxsize=16)
def layout_of_script(text: str) -> Layout | None:
    """The layout that a script reads; None where it does not go by line number, or not in the usual way."""
    fields: dict[int, tuple[str, str]] = {}  # index → (name, reads)
    for variable, function, number in _READS.findall(text):
        letter = _READ_AS.get(function)
        if letter is None:
            continue
        index = int(number)
        name = _field(variable)
        if letter == "v" and (variable.endswith("_list") or name in _LISTS):
            letter = "l"
        known, reads = fields.get(index, (name, ""))
        if known == name or letter != "k":
            fields[index] = (name, "".join(sorted({*reads, letter})))
    if len(fields) < _FEWEST:
        return None
    rows = [_row(index, *fields.get(index, ("", ""))) for index in range(max(fields) + 1)]
    value = "second field" if "array[1]" in text else "rest of line"
    return Layout(tuple(rows), value=value)


def _field(variable: str) -> str:
    """The field of a variable: ``use_mkldnn_list`` is mkldnn."""
    if variable in _FIELDS:
        return _FIELDS[variable]
    name = re.sub(r"_(?:key|value|list|num)(\d*)$", r"\1", variable)
    return _FIELDS.get(name, name)


def _row(index: int, name: str, reads: str) -> Row:
    if not name:
        return Row(index, "unread", kind="filler")
    like = NAMED_ROWS.get(name)
    if like is None:
        return Row(index, name, reads)
    return Row(index, name, reads, kind=like.kind)
