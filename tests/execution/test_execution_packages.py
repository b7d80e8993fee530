"""Packages that a step was seen to use: a script that gets them from a warm server cannot tell."""

from __future__ import annotations

import _json
import shutil
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from execution_bench import Bench, warmed
from test_execution_warm import FAKE_PADDLE, same_in_both

from tipc.run.executors.executor import Task
from tipc.run.executors.local import LocalExecutor
from tipc.run.executors.warmth import WarmServer

FILES = {
    "paddle/__init__.py": FAKE_PADDLE,
    "paddle/nn/__init__.py": "from . import layer",
    "paddle/nn/layer.py": "",
    "paddle/device.py": (
        "def is_compiled_with_cuda(): return False\n"
        "def is_compiled_with_xpu(): return False\n"
        "def get_all_custom_device_type(): return []\n"
    ),
    "decoy.py": "WHO = 'the package'",
    "pack/__init__.py": "mixed = 'a value'\ncounter = []",
    "pack/low.py": "import colorsys\ncounter = 1",
    "pack/high.py": "from . import low\nimport other\nfrom decoy import WHO",
    "pack/mixed.py": "",
    "pack/inner/__init__.py": "from .leaf import leaf",
    "pack/inner/leaf.py": "def leaf(): return 1",
    "pack/lazy.py": "import importlib\ndef load(): return importlib.import_module('pack.low')",
    "user.py": "import pack.mixed\nimport pack.lazy\npack.lazy.load()",
    "other.py": "VALUE = 5\nclass Kind: pass",
    "second.py": "import sys\nsys.modules['_second_name'] = sys.modules[__name__]",
    "setter.py": (
        "import os, warnings\nos.environ.setdefault('SET_BY_SETTER', 'yes')\nimport pack.low\n"
        "warnings.filterwarnings('ignore', 'not this')\n"
        "warnings.simplefilter('default', ImportWarning, append=True)\n"
    ),
    "reader.py": "import os\nMODE = os.environ.get('READER_MODE', 'plain')",
    "asks.py": "import reader",
    "native/__init__.py": "from ._json import __name__ as NAME",
    "optional.py": "try:\n    import not_there\nexcept ImportError:\n    not_there = None",
}
NAMES = [
    *("pack", "pack.low", "pack.high", "pack.mixed", "pack.inner", "pack.inner.leaf", "pack.lazy", "user"),
    *("other", "second", "setter", "reader", "optional", "asks", "native"),
]
LOADED = (
    "import sys\ndef loaded():\n    ours = ('pack', 'other', 'user', 'setter', 'decoy', 'colorsys', 'second')\n"
    "    print(sorted(n for n in sys.modules if n.partition('.')[0] in (*ours, '_second_name', 'paddle')))\n"
    "loaded()\n"
)
# ruff: noqa: E501  (each line is a script)
SCRIPTS = {
    "nothing": LOADED,
    "paddle alone": LOADED + "import paddle; loaded()",
    "a package without its modules": LOADED + "import pack; loaded(); print(sorted(vars(pack)), pack.mixed)",
    "a module and what it brings": LOADED + "import pack.high as h; loaded(); print(h.low, sorted(vars(h)))",
    "one after the other": LOADED + "import pack.low; loaded(); import pack.high; loaded(); import user; loaded()",
    "the other way round": LOADED + "import user; loaded(); import pack; print(sorted(vars(pack))); import other; loaded()",
    "what a function imports": LOADED + "import pack.lazy as z; loaded(); print(z.load()); loaded()",
    "a name that a submodule takes": "import pack; print(pack.mixed); import pack.mixed; print(pack.mixed)",
    "a name that hides its module": "from pack.inner import leaf; print(leaf(), leaf); import sys; print(sys.modules['pack.inner.leaf'])",
    "from": "from pack import low, counter; print(low.counter, counter)",
    "what is not there": "import pack\ntry:\n    pack.low\nexcept AttributeError as e:\n    print(e)\nfrom pack import nothing",
    "before paddle": LOADED + "import pack.high; loaded(); import paddle; loaded(); print(pack.high.WHO)",
    "after paddle": LOADED + "import paddle, pack.high; loaded(); print(pack.high.WHO)",
    "a second name": LOADED + "import second; loaded(); import _second_name; print(_second_name is second)",
    "a module of Python's own": "import sys; print('colorsys' in sys.modules); import colorsys; print(colorsys.__spec__)",
    "variables and filters": (
        "import os, warnings\ndef look(): print(os.environ.get('SET_BY_SETTER'), warnings.filters)\n"
        "look(); import pack.low; look(); import setter; look(); import pack.high; look()"
    ),
    "its own variable": "import os; os.environ['SET_BY_SETTER'] = 'mine'; import setter; print(os.environ['SET_BY_SETTER'])",
    "a variable that is read": "import os, paddle; os.environ['READER_MODE'] = 'fast'; import reader; print(reader.MODE)",
    "a variable that nobody reads": "import os, paddle; os.environ['NOBODY'] = 'x'; import reader; print(reader.MODE)",
    "one that only C reads": "import os, paddle; os.environ['OMP_DYNAMIC'] = 'false'; import other; print(other.VALUE)",
    "a variable that another module reads": "import os, paddle; os.environ['READER_MODE'] = 'fast'; import other, colorsys; print(other.VALUE)",
    "a variable that what it brings reads": "import os, paddle; os.environ['READER_MODE'] = 'fast'; import asks; print(asks.reader.MODE)",
    "one that C reads": "import os, paddle; os.environ['OMP_DYNAMIC'] = 'false'; import native; print(native.NAME)",
    "the spec": "import pack.low as m; s = m.__spec__; print(s.name, s.loader, m.__loader__ is s.loader, s.origin, s.parent, m.__cached__)",
    "the package's spec": "import pack as m; s = m.__spec__; print(s.name, type(s.loader), m.__path__, s.submodule_search_locations)",
    "finding": "import importlib.util as u; print(u.find_spec('pack').origin, u.find_spec('nothing'), u.find_spec('pack.low').origin)",
    "finding and then importing": "import importlib.util as u; u.find_spec('other'); import other; print(other.__spec__.origin)",
    "reload": "import importlib, pack.low as m; m.counter = 9; importlib.reload(m); print(m.counter)",
    "import_module": "import importlib; print(importlib.import_module('.low', 'pack').counter)",
    "pickle": "import pickle, other; k = pickle.loads(pickle.dumps(other.Kind)); print(k is other.Kind)",
    "source": "import inspect, pack.high; print(inspect.getsource(pack.high))",
    "pkgutil": "import pkgutil, pack; print([m.name for m in pkgutil.iter_modules(pack.__path__)])",
    "an optional one": "import optional; print(optional.not_there)",
    "threads import": (
        "import threading, importlib\nnames = ['pack.high', 'user', 'setter', 'pack.low'] * 4\n"
        "ts = [threading.Thread(target=importlib.import_module, args=(n,)) for n in names]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\nimport pack; print(sorted(vars(pack)))"
    ),
    "deleted and imported again": "import sys, other; del sys.modules['other']; import other as again; print(again.VALUE)",
    "a path that comes first": "import sys, paddle; sys.path.insert(0, 'own'); import other; print(other.__file__, other.VALUE)",
    "a dependency that comes first": "import sys, paddle; sys.path.insert(0, 'own'); import user, pack.high; print(pack.high.other.VALUE)",
    "an error in the script": "import pack.high\ndef f(): return pack.high.low.nothing\nf()",
    "a process": "import subprocess, sys, pack.high; subprocess.run([sys.executable, '-c', 'import pack.high; print(pack.high.other.VALUE)'])",
    "a fork": "import os, sys, paddle\nif os.fork() == 0:\n    import pack.high; print(pack.high.other.VALUE); sys.stdout.flush(); os._exit(0)\nos.wait(); import other; print(other.VALUE)",
    "open files": "import os, paddle, pack.high; print(sorted(os.listdir('/proc/self/fd')))",
    "what is found by whom": "import sys, paddle, " + ", ".join(NAMES) + "; print(sys.meta_path, sys.path_hooks, sys.path)",
}  # fmt: skip
# Here the script would have imported something else, or otherwise: it begins again, cold.
COLD = {
    "its own variable", "a variable that is read", "a variable that what it brings reads", "one that C reads", "a path that comes first",
    "a dependency that comes first",
}  # fmt: skip


def install(folder: Path, files: dict[str, str]) -> str:
    """An environment with nothing in it but these files; its interpreter."""
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    for name, text in files.items():
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if "native/__init__.py" in files:
        library = Path(_json.__file__)  # any library will do, under the name that its start function has
        shutil.copy(library, packages / "native" / library.name)
    return str(folder / "bin" / "python")


def extended(bench: Bench, executor: LocalExecutor, names: list[str]) -> WarmServer | None:
    """The server with these packages; None: it could have none of them."""
    [server] = executor.warmth.servers
    executor._expect(executor.warmth.packages_seen(server, names))
    waiting = executor.start(bench.task("sleep", "1000", timeout=None, name="waiting"))

    def is_over() -> bool:
        executor.wait(0.05)
        return all(other.ready for other in executor.warmth.servers)

    assert bench.eventually(is_over)
    executor.kill(waiting)
    executor.wait(None)
    first = executor.warmth.servers[0]
    return None if first is server else first


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("stage"))
    bench.env.pop("PYTHONUNBUFFERED", None)
    bench.env.pop("PYTHONPATH", None)
    bench.script("VALUE = 'of the repository'", "own/other.py")
    yield bench
    assert bench.eventually(lambda: not bench.alive())


@pytest.fixture(scope="module")
def python(stage: Bench) -> str:
    return install(stage.directory / "env", FILES)


@pytest.fixture(scope="module")
def warm(stage: Bench, python: str) -> Iterator[LocalExecutor]:
    executor = warmed(stage, python)
    server = extended(stage, executor, NAMES)
    assert server is not None
    assert list(server.packages) == NAMES
    yield executor
    executor.close()


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in COLD])
def test_a_script_cannot_tell_that_its_packages_were_there(
    stage: Bench, warm: LocalExecutor, python: str, name: str
) -> None:
    task = stage.task(python, str(stage.script(SCRIPTS[name], "the_script.py")), warm=True)
    server = warm.warmth.server(task)
    assert server is not None
    assert server.packages
    assert same_in_both(stage, warm, task)[0]


@pytest.mark.parametrize("name", sorted(COLD))
def test_a_script_that_would_import_otherwise_begins_again(stage: Bench, python: str, name: str) -> None:
    executor = warmed(stage, python)
    assert extended(stage, executor, NAMES)
    script = str(stage.script(SCRIPTS[name], "the_script.py"))
    watched = stage.task(python, script, facts=stage.directory / "facts", warm=True)
    try:
        assert not stage.run(executor, watched).warm
        log = stage.log()
        assert stage.run(executor, stage.task(python, script)).exit_code == 0
        assert stage.log() == log
        assert same_in_both(stage, executor, stage.task(python, script))[1] == log.decode()
    finally:
        executor.close()


BAD = {
    "prints": "print('hello')",
    "a warning": "import warnings; warnings.warn('hello')",
    "a thread": "import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "an open file": "import os; kept = open(os.devnull)",
    "at exit": "import atexit; atexit.register(print, 'bye')",
    "a signal": "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
    "the root logger": "import logging; logging.basicConfig()",
    "the path": "import sys; sys.path.append('/nowhere')",
    "a finder": "import sys; sys.meta_path.append(type('F', (), {'find_spec': staticmethod(lambda *a: None)}))",
    "a hook": "import sys; sys.excepthook = lambda *a: None",
    "random numbers": "import random; random.seed(1)",
    "the directory": "import os; os.chdir('/')",
    "a name of Python's": "import builtins; builtins.extra = 1",
    "somebody else's name": "import socket; socket.gethostname = len",
    "a pickler": "import copyreg; copyreg.pickle(complex, lambda c: (complex, (1,)))",
    "no variable": "import os; os.environ.pop('TAKEN_AWAY', None)",
    "no filters": "import warnings; warnings.resetwarnings()",
    "filters that are taken back": "import warnings\nwith warnings.catch_warnings():\n    import filters",
    "an error": "raise RuntimeError('not today')",
    "an exit": "raise SystemExit(3)",
    "the repository": "import repository",
    "the limit": "import sys; sys.setrecursionlimit(5000)",
    "the collector": "import gc; gc.disable()",
}  # fmt: skip


@pytest.fixture
def bad(bench: Bench, request: pytest.FixtureRequest) -> Iterator[tuple[Bench, LocalExecutor, str]]:
    """A bench whose interpreter has a package ``bad`` and others."""
    bench.env.pop("PYTHONUNBUFFERED", None)
    bench.env.update(PYTHONPATH=str(bench.directory / "repository"), TAKEN_AWAY="yes")
    bench.script("", "repository/repository.py")
    files = {
        **FILES,
        "bad/__init__.py": "",
        "bad/worse.py": request.param,
        "filters.py": "import warnings\nwarnings.simplefilter('ignore', ImportWarning)",
        "needs_bad.py": "import bad.worse",
    }
    python = install(bench.directory / "env", files)
    executor = warmed(bench, python)
    yield bench, executor, python
    executor.close()
    assert bench.eventually(lambda: not bench.alive())


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys(), indirect=True)
def test_a_package_that_does_more_than_be_imported_is_left_to_the_scripts(
    bad: tuple[Bench, LocalExecutor, str],
) -> None:
    bench, executor, python = bad
    server = extended(bench, executor, ["pack", "bad", "bad.worse", "pack.low", "needs_bad", "other"])
    assert server is not None
    assert list(server.packages) == ["pack", "bad", "pack.low", "other"]
    text = LOADED + "import pack.low, other, bad; loaded()\nimport needs_bad; print('after')"
    bench.script(text, "the_script.py")
    ran_warm, _log = same_in_both(bench, executor, bench.task(python, "the_script.py"))
    assert ran_warm


@pytest.mark.parametrize(
    "bad", ["import os; os._exit(3)", "import os; os.kill(os.getpid(), 9)"], indirect=True
)
def test_an_import_that_kills_its_server_leaves_the_other(bad: tuple[Bench, LocalExecutor, str]) -> None:
    bench, executor, python = bad
    assert extended(bench, executor, ["pack", "bad.worse"]) is None
    bench.script("import pack; print(pack.mixed)", "the_script.py")
    ran_warm, _log = same_in_both(bench, executor, bench.task(python, "the_script.py"))
    assert ran_warm


@pytest.mark.parametrize("bad", ["import time; time.sleep(1000)"], indirect=True)
def test_nobody_waits_for_an_import_that_does_not_end(bad: tuple[Bench, LocalExecutor, str]) -> None:
    bench, executor, python = bad
    [server] = executor.warmth.servers
    executor._expect(executor.warmth.packages_seen(server, ["pack", "bad.worse"]))
    assert not executor.warmth.servers[0].ready
    bench.script("import pack; print(pack.mixed)", "the_script.py")
    ran_warm, _log = same_in_both(bench, executor, bench.task(python, "the_script.py"))
    assert ran_warm  # by the server that is ready; and closing does not wait either


@pytest.mark.parametrize("bad", [""], indirect=True)
def test_when_the_server_with_packages_dies_the_other_serves(bad: tuple[Bench, LocalExecutor, str]) -> None:
    bench, executor, python = bad
    server = extended(bench, executor, ["pack"])
    assert server is not None
    task = bench.task(python, str(bench.script("import pack; print(1)", "a.py")), warm=True)
    assert bench.run(executor, task).warm
    server.spawner.kill()
    for _ in range(3):
        assert bench.run(executor, task).exit_code == 0
    assert bench.eventually(lambda: bench.run(executor, task).warm and server not in executor.warmth.servers)


@pytest.mark.parametrize("bad", [""], indirect=True)
def test_when_a_server_is_let_go_the_one_with_packages_goes_with_it_and_steps_run_on(
    bad: tuple[Bench, LocalExecutor, str],
) -> None:
    bench, executor, python = bad
    assert extended(bench, executor, ["pack"]) is not None
    [origin] = [server for server in executor.warmth.servers if server.origin is None]
    executor._forget(origin)
    assert not executor.warmth.servers
    script = str(bench.script("import pack; print(1)", "a.py"))
    for number in range(12):  # their sockets take the places of those that were closed
        executor.start(bench.task(python, script, name=f"{number}"))
    ended = []
    while len(ended) < 12:
        ended += executor.wait(1.0)
    assert {outcome.exit_code for _ticket, outcome in ended} == {0}


def test_a_server_is_asked_once_for_packages(stage: Bench, warm: LocalExecutor) -> None:
    for server in warm.warmth.servers:
        assert warm.warmth.packages_seen(server, ["pack"]) is None


@pytest.mark.paddle
def test_what_a_training_step_imports_is_there_for_the_next_step(bench: Bench) -> None:
    bench.env.pop("PYTHONUNBUFFERED", None)
    executor = LocalExecutor(grace=0.5)
    executor.worth_a_server = 1
    text = (
        "import sys, time, paddle\nprint('pluggy' in sys.modules)\nimport pluggy, beside\n"
        "print(pluggy.__version__, paddle.nn.Linear(2, 2)(paddle.ones([1, 2])).shape)\n"
    )
    bench.script("", "beside.py")
    bench.script(text, "step.py")

    def task(facts: Path | None) -> Task:
        return bench.task(sys.executable, "step.py", facts=facts, warm=True)

    try:
        assert bench.run(executor, task(bench.directory / "facts")).warm
        waiting = executor.start(bench.task("sleep", "1000", timeout=None, name="waiting"))

        def has_packages() -> bool:
            executor.wait(0.05)
            return bool(executor.warmth.servers[0].packages) and executor.warmth.servers[0].ready

        assert bench.eventually(has_packages)
        executor.kill(waiting)
        executor.wait(None)
        names = executor.warmth.servers[0].packages
        assert "pluggy" in names
        assert "beside" not in names
        assert not [name for name in names if name.partition(".")[0] in ("paddle", "numpy", "tipc")]
        assert same_in_both(bench, executor, task(None))[0]
    finally:
        executor.close()


@pytest.mark.paddle
def test_for_a_few_modules_no_server_is_extended(bench: Bench) -> None:
    bench.env.pop("PYTHONUNBUFFERED", None)
    executor = LocalExecutor(grace=0.5)
    bench.script("import paddle, pluggy\npaddle.nn.Linear(2, 2)(paddle.ones([1, 2]))\n", "step.py")
    try:
        task = bench.task(sys.executable, "step.py", facts=bench.directory / "facts", warm=True)
        assert bench.run(executor, task).warm
        assert not [server for server in executor.warmth.servers if server.packages]
    finally:
        executor.close()
