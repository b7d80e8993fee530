"""The door of inference: predictors of ``paddle.inference``, models of ``paddle.jit.load``, and programs of
``load_inference_model``."""

from __future__ import annotations

import functools
import math
import os
import time
import weakref
from typing import Any

from tipc.run.guest.witness.door import Door
from tipc.run.guest.witness.tensors import answers, array, fingerprint

KEPT = 8  # runs with different inputs whose arrays are kept
LOOKED_AT = 1000  # runs whose inputs are looked at for that
ANSWERS = 8 << 20  # bytes of outputs of further runs that are kept, without their inputs
ANSWER = 1 << 20  # of one run
INT8 = ("int8", "uint8")
TIMES = 1000
MOST = 64  # predictors
PASS_OFF = "delete_pass"
SETTINGS = ("enable_", "disable_", "set_", "switch_", PASS_OFF, "exp_")
QUIET = ("disable_glog_info", "set_model", "set_prog_file", "set_params_file", "set_model_buffer")


class Seen:
    """One predictor, or one loaded model, and its runs."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts: dict[str, Any] = {
            **facts, "runs": 0, "seconds": 0.0, "run_seconds": [], "batch_sizes": [],
            "samples": 0, "kept": [], "different_samples": 0, "int8_operators": None,
        }  # fmt: skip
        self.inputs: dict[str, Any] = {}  # what the next run will get: arrays, or only shapes
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.outputs: dict[str, Any] | None = None  # of the latest run, if it is one of those kept
        self.latest: dict[str, Any] | None = None  # the latest run of those kept
        self.latest_print = ""  # and the fingerprint of its inputs
        self.unfetched: dict[str, Any] | None = None  # a run whose outputs nobody has fetched
        self.known: set[str] = set()  # fingerprints of inputs
        # Of the next run's inputs: their size, and a fingerprint of each sample.
        self.rows: dict[str, tuple[int, list[str]]] = {}
        self.samples: set[str] = set()  # fingerprints of samples
        self.fed: list[str] = []  # of the latest run's: it may run again without being fed
        self.answered: set[str] = set()  # of those whose outputs were kept
        self.room = ANSWERS
        self.begun = 0.0
        self.predictor: Any = None  # one that computes in int8: it is asked at the end
        self.example: dict[str, Any] = {}  # what its first run got

    def print_of(self, name: str, value: Any) -> str:
        """What tells an input of the next run from others: the fingerprints of its samples."""
        if name in self.rows:
            return "".join(self.rows[name][1])
        return "".join(fingerprint(row) for row in as_rows(value))

    @property
    def keeps(self) -> bool:
        """Whether inputs of the next run may still be kept."""
        kept = len(self.facts["kept"]) + (self.latest is not None)
        return kept < KEPT and self.facts["runs"] < LOOKED_AT

    @property
    def wants_answers(self) -> bool:
        """Whether outputs of the next run may be kept without its inputs."""
        return not self.keeps and self.room > 0 and self.facts["runs"] < LOOKED_AT


class Predictors(Door):
    """A run is told when the next one begins: until then its outputs can be fetched."""

    name = "paddle.inference"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.seen: list[Seen] = []
        # By the script's own objects, which shall not live longer for it.
        self.settings: weakref.WeakKeyDictionary[Any, dict[str, str]] = weakref.WeakKeyDictionary()
        self.predictors: weakref.WeakKeyDictionary[Any, Seen] = weakref.WeakKeyDictionary()
        self.handles: weakref.WeakKeyDictionary[Any, tuple[Seen, str]] = weakref.WeakKeyDictionary()
        self.programs: dict[int, tuple[Any, Seen]] = {}  # by identity: of load_inference_model
        self.loaded: weakref.WeakKeyDictionary[Any, Seen] = weakref.WeakKeyDictionary()

    def attach(self, paddle: Any) -> None:
        """Watch the config, the making of predictors, their handles and runs."""
        self.paddle = paddle
        inference = paddle.inference
        for name in dir(inference.Config):
            if name.startswith(SETTINGS):
                self.around(inference.Config, name, after=functools.partial(self._set, name))
        self.around(inference, "create_predictor", before=self._configured, after=self._made)
        predictor, tensor = inference.Predictor, inference.Tensor
        self.around(predictor, "get_input_handle", after=self._handle)
        self.around(predictor, "get_output_handle", after=self._handle)
        self.around(predictor, "clone", after=self._cloned)
        self.around(predictor, "run", before=self._begin_run, after=self._end_run)
        self.around(tensor, "copy_from_cpu", before=self._fed)
        self.around(tensor, "share_external_data", before=self._fed)
        self.around(tensor, "copy_to_cpu", after=self._fetched)
        self.around(paddle.jit, "load", after=self._load)

    # ------------------------------------------------------------------------------------ predictors
    def _set(self, name: str, _note: None, _answer: Any, config: Any, *args: Any, **kwargs: Any) -> None:
        if name in QUIET:
            return
        settings = self.settings.setdefault(config, {})
        words = [_short(value) for value in args]
        words += [f"{key}={_short(value)}" for key, value in kwargs.items()]
        if name == PASS_OFF and name in settings:
            words.insert(0, settings[name])  # a call for each pass; of other settings the last one holds
        settings[name] = ", ".join(words)

    def _configured(self, config: Any, *_args: Any, **_kwargs: Any) -> dict[str, Any]:
        """What the config says, and its files as they are about to be opened."""
        program, params = str(config.prog_file()), str(config.params_file())
        folder = str(config.model_dir())
        if not program and folder:
            program, params = os.path.join(folder, "__model__"), folder
        settings = dict(self.settings.get(config, {}))
        engine = _engine(config)
        return {
            "model": os.path.abspath(program) if program else "",
            "params": os.path.abspath(params) if params else "",
            "digests": self.witness.telling.opens(path for path in (program, params) if path),
            "engine": engine,
            "device": _device(config),
            "precision": _precision(config, engine, settings),
            "threads": int(config.cpu_math_library_num_threads()),
            "settings": settings,
        }

    def _made(self, facts: dict[str, Any] | None, predictor: Any, *_args: Any) -> None:
        if facts is not None and len(self.seen) < MOST:
            self._add(predictor, facts)

    def _cloned(self, _note: None, clone: Any, predictor: Any, *_args: Any) -> None:
        known = self.predictors.get(predictor)
        if known is not None and len(self.seen) < MOST:
            names = ("model", "params", "digests", "engine", "device", "precision", "threads", "settings")
            self._add(clone, {name: known.facts[name] for name in names})

    def _add(self, predictor: Any, facts: dict[str, Any]) -> None:
        seen = Seen(facts)
        if facts["precision"] == "int8" and hasattr(predictor, "register_output_hook"):
            seen.predictor = predictor
        self.seen.append(seen)
        self.predictors[predictor] = seen

    def _handle(self, _note: None, handle: Any, predictor: Any, name: str) -> None:
        seen = self.predictors.get(predictor)
        if seen is not None:
            self.handles[handle] = (seen, name)

    def _fed(self, handle: Any, data: Any, *_args: Any) -> None:
        seen, name = self.handles.get(handle, (None, ""))
        if seen is None or not hasattr(data, "shape"):
            return
        self._give(seen, name, data)

    def _give(self, seen: Seen, name: str, data: Any) -> None:
        """What a predictor is given for its next run."""
        shape = data.shape() if callable(data.shape) else data.shape
        seen.shapes[name] = tuple(int(side) for side in shape)
        if seen.keeps:
            seen.inputs[name] = array(data) if hasattr(data, "dtype") else None
        else:
            seen.inputs.pop(name, None)
        if seen.facts["runs"] < LOOKED_AT and hasattr(data, "dtype"):
            size = math.prod(seen.shapes[name])
            seen.rows[name] = (size, [fingerprint(row) for row in as_rows(data)])

    def _fetched(self, _note: None, data: Any, handle: Any) -> None:
        seen, name = self.handles.get(handle, (None, ""))
        if seen is not None and seen.outputs is not None:
            seen.outputs[name] = array(data)

    def _begin_run(self, predictor: Any, *args: Any) -> Seen | None:
        seen = self.predictors.get(predictor)
        if seen is None:
            return None
        if args and isinstance(args[0], (list, tuple)):
            for name, tensor in zip(predictor.get_input_names(), args[0]):  # noqa: B905
                self._give(seen, name, tensor)
        self._begin(seen)
        return seen

    def _end_run(self, seen: Seen | None, answer: Any, predictor: Any, *args: Any) -> None:
        if seen is None:
            return
        self._end(seen)
        if args and isinstance(answer, (list, tuple)) and seen.outputs is not None:
            for name, tensor in zip(predictor.get_output_names(), answer):  # noqa: B905
                seen.outputs[name] = array(tensor)
        self.witness.report_if_due()

    # ---------------------------------------------------------------------------------------- runs
    def _begin(self, seen: Seen) -> None:
        """A run begins: the one before it is complete."""
        self._settle(seen)
        seen.fed = self._samples(seen) or seen.fed
        if seen.keeps and seen.inputs and all(value is not None for value in seen.inputs.values()):
            print_ = "".join(seen.print_of(name, value) for name, value in seen.inputs.items())
            if print_ not in seen.known and len(seen.inputs) == len(seen.shapes):
                seen.known.add(print_)
                seen.latest_print = print_
                seen.latest = {"inputs": dict(seen.inputs)}
                seen.outputs = {}
                if seen.predictor is not None and not seen.example:
                    seen.example = dict(seen.inputs)
        elif seen.wants_answers and not seen.answered.issuperset(seen.fed):
            seen.latest = {"inputs": {}}
            seen.outputs = {}
        seen.begun = time.perf_counter()

    def _end(self, seen: Seen) -> None:
        seconds = time.perf_counter() - seen.begun
        facts = seen.facts
        facts["runs"] += 1
        facts["seconds"] += seconds
        if len(facts["run_seconds"]) < TIMES:
            facts["run_seconds"].append(seconds)
        sides = [shape for shape in seen.shapes.values() if shape]
        batch = sides[0][0] if sides else 0
        facts["samples"] += batch
        seen.samples.update(self._samples(seen))
        seen.rows.clear()
        facts["different_samples"] = len(seen.samples)
        if batch not in facts["batch_sizes"]:
            facts["batch_sizes"].append(batch)
        if seen.latest is not None:
            seen.latest.update(batch=batch, seconds=seconds)

    def _samples(self, seen: Seen) -> list[str]:
        """The fingerprints of the next run's samples: of its largest input."""
        return max(seen.rows.values(), key=lambda pair: pair[0])[1] if seen.rows else []

    def _settle(self, seen: Seen, *, final: bool = False) -> None:
        """Send the arrays of the latest run; at the end those of one whose outputs nobody fetched, where
        there is no other."""
        if final and not seen.facts["kept"] and seen.latest is None:
            seen.latest = seen.unfetched
        run, outputs = seen.latest, seen.outputs or {}
        seen.latest = seen.outputs = None
        if run is None or "batch" not in run:
            return
        if run["inputs"] and not outputs and not final:
            # A warm-up: the same inputs may come again, and what they give be fetched.
            seen.known.discard(seen.latest_print)
            seen.unfetched = run
            return
        if not run["inputs"]:
            size = sum(value.nbytes for value in outputs.values())
            if not outputs or size > min(ANSWER, seen.room):
                return
            seen.room -= size
        self._keep(seen, run, outputs)

    def _keep(self, seen: Seen, run: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Send the arrays of a run; what is kept of it are the keys under which they went."""
        both = {f"i{name}": value for name, value in run["inputs"].items()}
        both.update({f"o{name}": value for name, value in outputs.items()})
        keys = self.witness.telling.arrays(both)
        if keys is not None:
            run["inputs"] = {name: keys[f"i{name}"] for name in run["inputs"]}
            run["outputs"] = {name: keys[f"o{name}"] for name in outputs}
            seen.facts["kept"].append(run)
            if outputs:
                seen.answered.update(seen.fed)

    # ------------------------------------------------------------------------- models of paddle.jit.load
    def _load(self, _note: None, model: Any, path: Any, *_args: Any, **_kwargs: Any) -> None:
        self.loaded[model] = self._opened(path, "jit")

    def _opened(self, path: Any, engine: str) -> Seen:
        """A model that paddle itself runs, without a predictor."""
        prefix = os.path.abspath(os.fspath(path))
        programs = []
        for suffix in (".json", ".pdmodel"):
            if os.path.isfile(prefix + suffix):
                programs.append(prefix + suffix)
        program = programs[0] if programs else prefix
        device = str(self.paddle.device.get_device())
        seen = Seen(
            {
                "model": program,
                "params": prefix + ".pdiparams",
                "digests": self.witness.telling.opens([program, prefix + ".pdiparams"]),
                "engine": engine,
                "device": device.partition(":")[0],
                "precision": "fp32",
                "threads": 0,
                "settings": {},
            }
        )
        self.seen.append(seen)
        return seen

    def add_program(self, program: Any, path: Any) -> None:
        """A static program was loaded for inference."""
        if len(self.seen) < MOST:
            self.programs[id(program)] = (program, self._opened(path, "executor"))

    def of_program(self, program: Any) -> Seen | None:
        """What is known of a program; None: it was not loaded for inference."""
        return self.programs.get(id(program), (None, None))[1]

    def program_called(self, seen: Seen, given: list[tuple[str, Any]]) -> Any:
        """It runs; what to do with its answer."""
        for name, value in given:
            self._give(seen, name, value)
        self._begin(seen)
        return functools.partial(self._loaded_answered, seen)

    def is_loaded(self, network: Any) -> bool:
        """Whether a network is one that ``paddle.jit.load`` has made."""
        return network in self.loaded

    def loaded_called(self, network: Any, given: list[tuple[str, Any]], _batch: int) -> Any:
        """A loaded model is called; what to do with its answer."""
        seen = self.loaded[network]
        for path, tensor in given:
            self._give(seen, path, tensor)
        self._begin(seen)
        return functools.partial(self._loaded_answered, seen)

    def _loaded_answered(self, seen: Seen, answer: Any) -> None:
        self._end(seen)
        if seen.outputs is not None:
            import numpy

            for path, tensor in answers(answer, (self.paddle.Tensor, numpy.ndarray)):
                seen.outputs[path] = array(tensor)

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``predictors``."""
        if final:
            for seen in self.seen:
                self._settle(seen, final=True)
                if seen.predictor is not None and seen.example:
                    seen.facts["int8_operators"] = count_int8(seen.predictor, seen.example)
        return {"predictors": [seen.facts for seen in self.seen]}


def as_rows(data: Any) -> Any:
    """An input sample by sample; one without sides is one sample."""
    value = data.numpy() if hasattr(data, "numpy") else data
    return value if value.ndim else [value]


def count_int8(predictor: Any, example: dict[str, Any]) -> int:
    """How many operators give int8 when a predictor runs once more, after the script has ended."""
    kinds: list[str] = []
    predictor.register_output_hook(lambda _operator, _name, tensor: kinds.append(str(tensor.dtype)))
    for name, value in example.items():
        handle = predictor.get_input_handle(name)
        handle.reshape(list(value.shape))
        handle.copy_from_cpu(value)
    predictor.run()
    return sum(kind.rpartition(".")[2].lower() in INT8 for kind in kinds)


def _short(value: Any) -> str:
    return repr(value)[:200]


def _asked(config: Any, *names: str) -> bool:
    """Whether the config answers yes to one of several questions, of which some paddles know only one."""
    for name in names:
        if hasattr(config, name) and getattr(config, name)():
            return True
    return False


def _engine(config: Any) -> str:
    if _asked(config, "onnxruntime_enabled"):
        return "onnxruntime"
    if _asked(config, "openvino_engine_enabled"):
        return "openvino"
    if _asked(config, "tensorrt_engine_enabled"):
        return "tensorrt"
    if not _asked(config, "use_gpu") and _asked(config, "mkldnn_enabled", "onednn_enabled"):
        return "onednn"
    return "paddle"


def _device(config: Any) -> str:
    if _asked(config, "use_gpu"):
        return "gpu"
    return "xpu" if _asked(config, "use_xpu") else "cpu"


def _precision(config: Any, engine: str, settings: dict[str, str]) -> str:
    """What the predictor computes in, as far as its config says. A quantised program may say more."""
    if engine == "onednn" and _asked(config, "mkldnn_int8_enabled", "onednn_int8_enabled"):
        return "int8"
    if engine == "onednn" and ("enable_mkldnn_bfloat16" in settings or "enable_onednn_bfloat16" in settings):
        return "bf16"
    words = ""
    for name in ("enable_tensorrt_engine", "enable_openvino_engine", "enable_use_gpu"):
        words += settings.get(name, "") + " "
    for word, precision in (("Int8", "int8"), ("Half", "fp16"), ("Bfloat16", "bf16")):
        if word in words:
            return precision
    return "fp32"
