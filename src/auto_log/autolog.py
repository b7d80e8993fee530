"""``AutoLogger``: what an inference script creates, stamps, and asks for its report."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from auto_log.device import Sampler, gpu_names, process_ids
from auto_log.env import ABSENT, conf_info, environment, paddle_info
from auto_log.times import Times, mean, percentile

if TYPE_CHECKING:
    import logging

API_VERSION = "1.0"


class Info(Protocol):
    """All that a caller's logger must have."""

    def info(self, message: str, /) -> Any: ...


class AutoLogger:
    """Times the stages of an inference, watches memory meanwhile, and reports both in the blocks of the spec.

    ``inference_config`` is a ``paddle.inference.Config``, a dict with the names of the Conf block, or None.
    With ``logger=None`` the report goes to stdout and, where ``save_path`` is given, into that file.
    """

    def __init__(
        self,
        model_name: str,
        model_precision: str = "fp32",
        batch_size: int = 1,
        data_shape: str | Sequence[int] = "dynamic",
        save_path: str | os.PathLike[str] | None = None,
        inference_config: Any = None,
        pids: int | Sequence[int] | None = None,
        process_name: str | None = None,
        gpu_ids: int | str | Sequence[int] | None = None,
        time_keys: Sequence[str] | None = None,
        warmup: int = 0,
        logger: Info | None = None,
    ) -> None:
        self.model_name = model_name
        self.precision = model_precision
        self.batch_size = batch_size
        self.data_shape = data_shape
        self.save_path = save_path
        self.times = Times(time_keys, warmup)
        self.logger: Info = stdout_logger(save_path) if logger is None else logger
        # Read now: the script may go on to change the config, or free it with its predictor.
        self.config_status = conf_info(inference_config)
        gpus = gpu_names(gpu_ids, os.environ.get("CUDA_VISIBLE_DEVICES"))
        self._sampler = Sampler(process_ids(pids, process_name), gpus)

    def report(self, identifier: str | None = None) -> None:
        """Log all blocks, each line with the identifier in front if there is one. Can be called again."""
        self._sampler.sample()
        self._sampler.stop()
        prefix = f"[{identifier}]" if identifier else ""
        self.logger.info("")
        for dashes, title, lines in self.blocks():
            self.logger.info(f"{'-' * dashes[0]} {title} {'-' * dashes[1]}")
            for line in lines:
                self.logger.info(f"{prefix} {line}")

    def blocks(self) -> Iterable[tuple[tuple[int, int], str, list[str]]]:
        """The blocks in order: dashes around the title (as many as the logs always had), title, lines."""
        yield (22, 22), "Env info", fields(environment())
        yield (22, 22), "Paddle info", fields({**paddle_info(), "log_api_version": API_VERSION})
        yield (23, 23), "Conf info", fields(self.config_status)
        yield (23, 22), "Model info", fields({"model_name": self.model_name, "precision": self.precision})
        yield (
            (23, 23),
            "Data info",
            fields(
                {
                    "batch_size": self.batch_size,
                    "input_shape": self.data_shape,
                    "data_num": len(self.times.counted_total()),
                }
            ),
        )
        yield (23, 23), "Perf info", self.performance()

    def performance(self) -> list[str]:
        """Memory, the whole time, and for each stage the mean, the median and the 95th percentile."""
        used = self._sampler.summary()
        stages = {key: self.times.counted(key) for key in self.times.keys}

        def row(suffix: str, figures: Iterable[float | None]) -> str:
            pairs = zip(stages, figures, strict=True)
            return ", ".join(f"{key}{suffix}(ms): {milliseconds(figure)}" for key, figure in pairs)

        return [
            f"cpu_rss(MB): {rounded(used['cpu_rss'])}, gpu_rss(MB): {rounded(used['gpu_rss'])}, "
            f"gpu_util: {rounded(used['gpu_util'])}%",
            f"total time spent(s): {rounded(sum(self.times.counted_total()))}",
            row("", (mean(samples) for samples in stages.values())),
            row("_p50", (percentile(samples, 50) for samples in stages.values())),
            row("_p95", (percentile(samples, 95) for samples in stages.values())),
        ]


def fields(values: Mapping[str, Any]) -> list[str]:
    """``name: value``, a line each."""
    return [f"{name}: {value}" for name, value in values.items()]


def rounded(figure: float | None) -> str:
    return ABSENT if figure is None else str(round(figure, 4))


def milliseconds(seconds: float | None) -> str:
    return ABSENT if seconds is None else str(round(seconds * 1000, 4))


def stdout_logger(save_path: str | os.PathLike[str] | None) -> logging.Logger:
    """A logger of its own, in AutoLog's format, that changes no other logger of the program."""
    import logging

    logger = logging.Logger("root", logging.INFO)
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stdout)]
    if save_path is not None:
        os.makedirs(os.path.dirname(save_path) or ".", exist_ok=True)
        handlers.append(logging.FileHandler(save_path, "w", encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(
            logging.Formatter("[%(asctime)s] %(name)s %(levelname)s: %(message)s", "%Y/%m/%d %H:%M:%S")
        )
        logger.addHandler(handler)
    return logger
