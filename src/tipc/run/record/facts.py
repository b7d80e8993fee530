"""The files of what the witness saw a step do: the facts that verdicts rest on. A log only claims.

The witness (``run/guest/witness``) stands before the script in every process of a step and tells what it sees
through a socket to the step's keeper. ``tipc`` writes it, after the step has ended, into the run's evidence:
``evidence/<plan>/<step>.facts.json`` for what is here, and ``….arrays.npz`` for the arrays, which are named
here by their keys in that file. Nothing of it passes through a file that the step itself could write.

What is in them is in ``step_facts``, which is imported when the first of them is written or read: an executor
is ready without it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tipc.bounded import OF_A_RUN, open_fresh, read_bounded
from tipc.errors import EnvironmentProblem, wording
from tipc.npz import read_npz
from tipc.run.artefacts import digest as file_digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tipc.run.record.step_facts import StepFacts

VERSION = 1  # of the file; another one is refused
_NAME_LIMIT = 180


def file_name(step: str) -> str:
    """A step's id as a file name."""
    name = step.replace("/", "__")
    if len(os.fsencode(name)) > _NAME_LIMIT:
        name = name[: _NAME_LIMIT // 2] + "-" + hashlib.sha256(os.fsencode(step)).hexdigest()[:16]
    return name


def facts_base(run_directory: Path, plan_index: int, step_id: str) -> Path:
    """The facts of a step are the file of this name with ``.facts.json``, its arrays with ``.arrays.npz``."""
    return run_directory / "evidence" / str(plan_index) / file_name(step_id)


def facts_file(base: Path) -> Path:
    """The file of the facts themselves."""
    return base.with_name(base.name + ".facts.json")


def arrays_file(base: Path) -> Path:
    """The file of the arrays that they name."""
    return base.with_name(base.name + ".arrays.npz")


def load_facts(run_directory: Path, plan_index: int, step_id: str, digest: str = "") -> StepFacts:
    """What the witness saw of a step. ``digest`` is the one of its StepResult: a file that was changed since
    it was written is refused (EnvironmentProblem), as is a damaged one or one of another version.

    A step that has left no facts gives none, with a ``problem``.
    """
    from tipc.run.record.step_facts import StepFacts, facts_from_json

    base = facts_base(run_directory, plan_index, step_id)
    path = facts_file(base)
    try:
        raw = read_bounded(path, OF_A_RUN)
    except FileNotFoundError:
        if digest:
            raise EnvironmentProblem("the facts of the step have been removed", path=str(path)) from None
        return StepFacts((), problem="the step has left no facts")
    except OSError as error:
        raise EnvironmentProblem(
            wording("cannot be read: {strerror}", strerror=error.strerror), path=str(path)
        ) from error
    if digest and hashlib.sha256(raw).hexdigest() != digest:
        raise EnvironmentProblem("the facts have been changed since they were written", path=str(path))
    try:
        content = json.loads(raw)
        version = content.pop("version")
        expected = content.pop("arrays_sha256")
        if version != VERSION:
            raise EnvironmentProblem(
                wording("facts of version {version}, not {known}", version=version, known=VERSION),
                path=str(path),
            )
        facts = facts_from_json(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise EnvironmentProblem("the facts are damaged", path=str(path)) from error
    if not expected:
        return facts
    arrays = arrays_file(base)
    if not arrays.is_file() or file_digest(arrays) != expected:
        raise EnvironmentProblem("the arrays of the facts are not as they were written", path=str(arrays))
    return replace(facts, arrays=str(arrays))


def forget_facts(base: Path) -> None:
    """Remove what an earlier attempt has left."""
    facts_file(base).unlink(missing_ok=True)
    arrays_file(base).unlink(missing_ok=True)


def store_facts(base: Path, told: Mapping[str, Any] | None, bodies: Sequence[bytes]) -> str:
    """Write what a keeper has heard, each file in one piece; SHA-256 of the facts file.

    ``told`` is ``Hearing.told()``, and ``bodies`` the bytes of its arrays in order; None: nobody listened.
    """
    from tipc.run.record.step_facts import facts_from_told

    arrays = _arrays(told, bodies)
    facts = facts_from_told(told, frozenset(arrays))
    base.parent.mkdir(parents=True, exist_ok=True)
    digest = ""
    if arrays:
        import numpy

        with _part_of(arrays_file(base)) as part:
            with open_fresh(part) as file:
                numpy.savez(file, **arrays)  # type: ignore[arg-type]
            digest = file_digest(part)
    content = {"version": VERSION, "arrays_sha256": digest, **asdict(facts)}
    raw = json.dumps(content, separators=(",", ":")).encode()
    _write(facts_file(base), raw)
    return hashlib.sha256(raw).hexdigest()


def take_facts(base: Path) -> tuple[bytes, bytes]:
    """Both files of the facts that were just stored, to be put elsewhere; they are removed here."""
    facts = facts_file(base).read_bytes()
    arrays = b""
    if arrays_file(base).exists():
        arrays = arrays_file(base).read_bytes()
    forget_facts(base)
    return facts, arrays


def put_facts(base: Path, files: tuple[bytes, bytes]) -> str:
    """Write the files of facts that were stored on another machine; SHA-256 of the first."""
    facts, arrays = files
    base.parent.mkdir(parents=True, exist_ok=True)
    if arrays:
        _write(arrays_file(base), arrays)
    _write(facts_file(base), facts)
    return hashlib.sha256(facts).hexdigest()


@contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """A file beside the target that takes its place when it is whole; without room nothing is left of it."""
    part = target.with_name(target.name + ".part")
    try:
        yield part
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _write(target: Path, content: bytes) -> None:
    """A file in one piece."""
    with _part_of(target) as part, open_fresh(part) as file:
        file.write(content)


def read_arrays(facts: StepFacts) -> dict[str, NDArray[Any]]:
    """All arrays of a step, by the keys that the facts name. Only plain arrays are read, never pickles."""
    if not facts.arrays:
        return {}
    return read_npz(facts.arrays)


def _arrays(told: Mapping[str, Any] | None, bodies: Sequence[bytes]) -> dict[str, NDArray[Any]]:
    """The arrays as they were sent. One that is not what it says is left out."""
    if not bodies or not told:
        return {}
    import numpy

    made: dict[str, NDArray[Any]] = {}
    for head, body in zip(told["arrays"], bodies, strict=True):
        try:
            array = numpy.frombuffer(body, dtype=numpy.dtype(head["dtype"])).reshape(head["shape"])
        except (ValueError, TypeError, KeyError):
            continue
        made.setdefault(str(head["key"]), array)
    return made
