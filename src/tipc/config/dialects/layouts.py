"""The two layouts that nearly all config files have, and how a family's own lines are put into them."""

from __future__ import annotations

from typing import Any

from tipc.config.layout import Layout, Row


def header(index: int, word: str) -> Row:
    """A line ``===word===``."""
    return Row(index, "header", keys=(word,), kind="header")


def filler(index: int) -> Row:
    """A line that no one reads."""
    return Row(index, "filler", keys=("##", "#", "null"), kind="filler")


def changed(layout: Layout, *rows: Row, **others: Any) -> Layout:
    """A layout in which some lines are others; lines beyond its end are added."""
    table = {row.index: row for row in (*layout.rows, *rows)}
    return layout._replace(rows=tuple(row for _, row in sorted(table.items())), **others)


SLIM = Layout(
    (
        header(0, "train_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "gpu_list", "l", ("gpu_list",), "gpus"),
        Row(4, "train_use_gpu", "kl", kind="flag", unused=True),
        Row(5, "epoch", "kp", kind="number"),
        Row(6, "save_model", "k", kind="path"),
        Row(7, "train_batch", "kp", kind="number"),
        Row(8, "pretrain", "kv", kind="weights"),
        Row(9, "train_model_name", "v", ("train_model_name",), "weights"),
        Row(10, "data_path", "kv", kind="path", unused=True),
        filler(11),
        Row(12, "trainer_list", "l", ("trainer",), "trainers"),
        Row(13, "norm_train", "v", kind="script"),
        Row(14, "nodes", "kv", unused=True),
        header(15, "eval_params"),
        Row(16, "eval", "v", ("eval",), "script"),
        filler(17),
        header(18, "infer_params"),
        Row(19, "save_infer", "kv", kind="path"),
        Row(20, "export_weight", "k", kind="weights"),
        Row(21, "norm_export", "v", ("norm_export",), "script"),
        filler(22),
        Row(23, "infer_model", "v", ("train_model", "infer_model"), "weights"),
        Row(24, "infer_export", "v", ("infer_export",), "script"),
        filler(25),
        Row(26, "inference", "v", ("inference",), "script"),
        Row(27, "use_gpu", "kl", kind="flag"),
        Row(28, "batch_size", "kl", kind="number"),
        Row(29, "model_dir", "k", kind="path"),
        Row(30, "image_dir", "kv", kind="path"),
        Row(31, "benchmark", "kv", kind="flag"),
    ),
    limit=32,
)

FULL = Layout(
    (
        header(0, "train_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "gpu_list", "l", ("gpu_list",), "gpus"),
        Row(4, "train_use_gpu", "kl", kind="flag"),
        Row(5, "autocast", "kl"),
        Row(6, "epoch", "kp", kind="number"),
        Row(7, "save_model", "k", kind="path"),
        Row(8, "train_batch", "kp", kind="number"),
        Row(9, "pretrain", "kv", kind="weights"),
        Row(10, "train_model_name", "v", ("train_model_name", "trained_model_name"), "weights"),
        Row(11, "train_infer_img_dir", "v", ("train_infer_img_dir",), "path"),
        Row(12, "train_param1", "kv"),
        filler(13),
        Row(14, "trainer_list", "l", ("trainer",), "trainers"),
        Row(15, "norm_train", "kv", ("norm_train",), "script"),
        Row(16, "pact_train", "kv", ("pact_train",), "script"),
        Row(17, "fpgm_train", "kv", ("fpgm_train",), "script"),
        Row(18, "distill_train", "kv", ("distill_train",), "script"),
        Row(19, "trainer1", "kv", kind="script"),
        Row(20, "trainer2", "kv", kind="script"),
        filler(21),
        header(22, "eval_params"),
        Row(23, "eval", "v", ("eval",), "script"),
        Row(24, "eval1", "kv"),
        filler(25),
        header(26, "infer_params"),
        Row(27, "save_infer", "k", kind="path"),
        Row(28, "export_weight", "k", kind="weights"),
        Row(29, "norm_export", "v", ("norm_export",), "script"),
        Row(30, "pact_export", "v", ("pact_export", "quant_export"), "script"),
        Row(31, "fpgm_export", "v", ("fpgm_export",), "script"),
        Row(32, "distill_export", "v", ("distill_export",), "script"),
        Row(33, "export1", "kv", kind="script"),
        Row(34, "export2", "kv", kind="script"),
        Row(35, "inference_dir", "v", kind="path"),
        Row(36, "infer_model", "l", ("infer_model",), "weights"),
        Row(37, "infer_export", "l", ("infer_export",), "script"),
        Row(38, "infer_quant", "l", ("infer_quant",), "flag"),
        Row(39, "inference", "v", ("inference",), "script"),
        Row(40, "use_gpu", "kl", kind="flag"),
        Row(41, "mkldnn", "kl", kind="flag"),
        Row(42, "cpu_threads", "kl", kind="number"),
        Row(43, "batch_size", "kl", kind="number"),
        Row(44, "use_trt", "kl", kind="flag"),
        Row(45, "precision", "kl"),
        Row(46, "model_dir", "k", kind="path"),
        Row(47, "image_dir", "kv", kind="path"),
        Row(48, "save_log", "k", unused=True),
        Row(49, "benchmark", "kv", kind="flag"),
        Row(50, "infer1", "kv"),
    )
)
