"""Small scripts that a warm process must run exactly as a fresh one does."""

from __future__ import annotations

# ruff: noqa: E501  (each line is a script)
SCRIPTS: dict[str, str] = {
    "what it is called": "import sys; print(sys.argv, __file__, __name__, sys.path[0], getattr(sys, 'orig_argv', 0))",
    "the whole path": "import sys; print(sys.path, sys.flags, sys.executable, sys.prefix)",
    "its names": "print(sorted(globals()), sorted(vars()), __spec__, __package__, __doc__)",
    "its loader": "print(type(__loader__).__name__, __loader__.name, __loader__.path, __cached__, __builtins__)",
    "a docstring": "'''I am one.'''\nprint(__doc__)",
    "a future": "from __future__ import annotations\nx: int = 1\nprint(__annotations__)",
    "modules": "import sys; print([m for m in ('paddle', 'tipc', 'paddle.nn') if m in sys.modules])",
    "no module of ours": "import sys; print([m for m in sys.modules if 'tipc' in m or 'keeper' in m])",
    "variables": (
        "import os; hide = ('TIPC', '_', 'PWD', 'SHLVL')\n"
        "print(sorted((k, v) for k, v in os.environ.items() if not k.startswith(hide)))"
    ),
    "variables after the import": "import os, paddle; print(os.environ.get('SET_BY_PADDLE'))",
    "the import prints": "print('before', flush=True)\nimport paddle\nprint('after')",
    "a submodule": "import paddle.nn.layer as layer; print(layer.__name__, layer.__spec__.name)",
    "from a submodule": "from paddle.nn import layer; print(layer.__spec__.origin == layer.__file__)",
    "the spec": "import paddle; s = paddle.__spec__; print(s.name, type(s.loader).__name__, paddle.__file__)",
    "reload": "import importlib, paddle; importlib.reload(paddle); print(paddle.__version__)",
    "find": "import importlib.util as u; print(u.find_spec('paddle').name, u.find_spec('nothing'))",
    "descriptors": "import os, paddle; print(sorted(os.listdir('/proc/self/fd')))",
    "descriptors before": (
        "import os\nprint([os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in (0, 1, 2)])\n"
        "import subprocess, sys\nsubprocess.run(['ls', '/proc/self/fd'])"
    ),
    "input is empty": "import sys; print(repr(sys.stdin.read()), sys.stdin.fileno())",
    "streams": (
        "import sys\nfor s in (sys.stdout, sys.stderr, sys.stdin):\n"
        "    print(s.name, s.encoding, s.errors, s.line_buffering, s.write_through, s.mode)"
    ),
    "order of buffered and unbuffered": (
        "import os, sys\nprint('one')\nsys.stderr.write('two\\n')\nos.write(1, b'three\\n')\nprint('four')"
    ),
    "signals": (
        "import signal\nprint([(s.name, str(signal.getsignal(s))[:30]) for s in signal.valid_signals()\n"
        "       if isinstance(s, signal.Signals) and signal.getsignal(s) is not signal.SIG_DFL])\n"
        "print(signal.set_wakeup_fd(-1), signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    ),
    "session": "import os; print(os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.umask(0))",
    "directory": "import os; print(os.getcwd())",
    "threads": "import threading; print(threading.enumerate()[0].name, threading.active_count())",
    "exit 0": "import sys; sys.exit()",
    "exit 3": "import sys; print('x'); sys.exit(3)",
    "exit with words": "import sys; sys.exit('it is over')",
    "exit with an object": "import sys; sys.exit([1, 2])",
    "exit 256": "import sys; sys.exit(256)",
    "exit -1": "import sys; sys.exit(-1)",
    "raise SystemExit": "raise SystemExit(9)",
    "os._exit": "import os\nprint('lost or not')\nos._exit(11)",
    "os._exit after a flush": "import os\nprint('kept', flush=True)\nos._exit(0)",
    "an exception": "def f():\n    raise ValueError('no')\nf()",
    "a chain of exceptions": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e",
    "an exception in an import": "import paddle.broken",
    "an exception printed by itself": (
        "import traceback\ntry:\n    {}['a']\nexcept KeyError:\n    traceback.print_exc()"
    ),
    "its own hook": "import sys\nsys.excepthook = lambda k, v, t: print('hook', k, v, t.tb_lineno)\n1 / 0",
    "a syntax error": "print('never'\n",
    "an indentation error": "if 1:\nprint(2)\n",
    "a cookie": "# -*- coding: latin-1 -*-\nprint('caf\xe9'.encode())",
    "a null byte": "print(1)\0",
    "nothing at all": "",
    "keyboard interrupt": "raise KeyboardInterrupt",
    "interrupt by signal": "import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(5)",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM); import time; time.sleep(5)",
    "abort": "import os; print('x', flush=True); os.abort()",
    "a handler": (
        "import os, signal, sys\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(42))\n"
        "os.kill(os.getpid(), signal.SIGTERM)\nsignal.pause()"
    ),
    "atexit": "import atexit\natexit.register(print, 'last')\natexit.register(print, 'before')\nprint('first')",
    "atexit after an error": "import atexit\natexit.register(print, 'still')\n1 / 0",
    "an error in atexit": "import atexit\natexit.register(lambda: 1 / 0)\nprint('x')",
    "a thread that outlives main": (
        "import threading, time\ndef f():\n    time.sleep(0.1)\n    print('thread')\n"
        "threading.Thread(target=f).start()\nprint('main')"
    ),
    "a daemon thread": (
        "import threading, time\nt = threading.Thread(target=time.sleep, args=(60,), daemon=True)\n"
        "t.start()\nprint('m')"
    ),
    "an error in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\nt.join()",
    "a finaliser": "class A:\n    def __del__(self): print('gone')\na = A()",
    "stdout is closed": "import sys\nsys.stdout.close()\nprint('x', file=sys.stderr)",
    "pickle of a class of main": (
        "import pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A())).__class__ is A, A.__module__)"
    ),
    "runpy": "import runpy\nprint(sorted(runpy.run_module('helper'))[:3])",
    "a helper beside it": "import helper\nprint(helper.WHO, helper.__file__)",
    "a helper that hides a package": "import decoy\nprint(decoy.WHO)",
    "fork": "import os\npid = os.fork()\nif pid == 0:\n    os._exit(7)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "a subprocess": (
        "import subprocess, sys\n"
        "print(subprocess.run([sys.executable, '-c', 'import os; print(os.environ.get(\"X\"))'],\n"
        "      env={'X': 'y'}, capture_output=True, text=True))"
    ),
    "exec": "import os, sys\nprint('x', flush=True)\nos.execv(sys.executable, [sys.executable, '-c', 'print(2)'])",
    "dataclass and typing": (
        "from __future__ import annotations\nimport dataclasses, typing\n@dataclasses.dataclass\nclass A:\n    x: int\n"
        "print(A(1), typing.get_type_hints(A))"
    ),
    "source lines": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f), inspect.getfile(f))",
    "the warning of a line": "import warnings\nwarnings.warn('careful')",
    "random numbers differ from run to run": (
        "import random, os\na = random.random()\np = 'seen.txt'\n"
        "print(os.path.exists(p) and open(p).read() == str(a))\nopen(p, 'w').write(str(a))"
    ),
    "invalid UTF-8": "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe')\nsys.stdout.flush()\nprint('\\u4e2d')",
    "much output": "for i in range(30000):\n    print('line', i)",
    "a deep recursion": "import sys\ndef f(n):\n    return n and f(n - 1)\ntry:\n    f(10**6)\nexcept RecursionError as e:\n    print(e)",
    "locale": "import locale, sys; print(locale.getpreferredencoding(), sys.getfilesystemencoding())",
    "new main": "import __main__\n__main__.X = 5\nprint(X)",
    "ten modules": "import json, logging, argparse, multiprocessing, unittest, csv, re, sqlite3\nprint(logging.root)",
    "argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int)\np.parse_args()",
    "argparse fails": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--need', required=True)\np.parse_args()",
    "logging to stderr": "import logging\nlogging.basicConfig(level=20)\nlogging.info('hello')\nlogging.shutdown()",
}  # fmt: skip

POOL = """
import multiprocessing as mp

class Thing:
    def __init__(self, x): self.x = x

def work(thing):
    return thing.x * 2, __name__ != '__main__' or mp.current_process().name != 'MainProcess'

if __name__ == '__main__':
    context = mp.get_context('{method}')
    with context.Pool(2) as pool:
        print(pool.map(work, [Thing(1), Thing(2), Thing(3)]))
    queue = context.Queue()
    process = context.Process(target=queue.put, args=(5,))
    process.start(); print(queue.get()); process.join(); print(process.exitcode)
"""
SCRIPTS.update(
    {f"multiprocessing by {method}": POOL.format(method=method) for method in ("fork", "spawn", "forkserver")}
)
SCRIPTS["a process pool"] = """
from concurrent.futures import ProcessPoolExecutor
def square(x): return x * x
if __name__ == '__main__':
    with ProcessPoolExecutor(2) as pool: print(list(pool.map(square, range(5))))
"""
SCRIPTS["shared memory"] = """
from multiprocessing import shared_memory
memory = shared_memory.SharedMemory(create=True, size=10)
memory.buf[0] = 1; memory.close(); memory.unlink(); print('ok')
"""

PADDLE_SCRIPTS: dict[str, str] = {
    "a sum": "import paddle\nprint(paddle.ones([2, 3]).sum())",
    "seeded numbers": "import paddle\npaddle.seed(7)\nprint(paddle.rand([4]).numpy().tolist())",
    "numpy first": "import numpy as np\nprint(np.arange(6).reshape(2, 3) @ np.ones(3))\nimport paddle\nprint(paddle.get_device())",
    "training": """
import paddle
paddle.seed(1)
net = paddle.nn.Sequential(paddle.nn.Conv2D(3, 4, 3), paddle.nn.Flatten(), paddle.nn.Linear(4 * 36, 2))
adam = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(3):
    loss = net(paddle.rand([2, 3, 8, 8])).square().mean(); loss.backward(); adam.step(); adam.clear_grad()
    print(float(loss))
""",
    "a DataLoader with workers": """
import paddle, numpy as np
from paddle.io import DataLoader, Dataset
class Squares(Dataset):
    def __len__(self): return 12
    def __getitem__(self, i): return np.full([2], i * i, 'float32')
if __name__ == '__main__':
    for _ in range(2):
        print([batch.numpy().sum() for batch in DataLoader(Squares(), batch_size=3, num_workers=2)])
""",
    "a worker that fails": """
import os, paddle, numpy as np
from paddle.io import DataLoader, Dataset
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # threads print tracebacks there in any order
class Bad(Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): raise ValueError('bad item')
try:
    list(DataLoader(Bad(), batch_size=2, num_workers=1))
except Exception as error:
    print(type(error).__name__)
""",
    "export and inference": """
import numpy as np, paddle
from paddle.static import InputSpec
paddle.seed(3)
net = paddle.nn.Linear(4, 2); net.eval()
paddle.jit.save(net, './exported/model', input_spec=[InputSpec([None, 4], 'float32')])
config = paddle.inference.Config('./exported', 'model'); config.disable_glog_info(); config.disable_gpu()
predictor = paddle.inference.create_predictor(config)
print(predictor.run([paddle.ones([1, 4])])[0].numpy().round(4).tolist())
""",
    "an error of paddle": "import paddle\npaddle.ones([2]) @ paddle.ones([3])",
    "flags": "import paddle\npaddle.set_flags({'FLAGS_check_nan_inf': True})\nprint(paddle.get_flags('FLAGS_check_nan_inf'))",
}  # fmt: skip
