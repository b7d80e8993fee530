"""Small repositories with scripts of their own, which no dialect fits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from as_someone import Someone, someone

from tipc.errors import EnvironmentProblem
from tipc.plan.trace.record.sandbox import Sandbox

CONFIG = """\
name:toy
interpreter:python3.7
cards:0;0,1
norm_train:tools/fit.py -c toy.yml
eval:tools/fit.py -c toy.yml --judge
norm_export:tools/freeze.py
inference:deploy/run.py
"""

# Other loops, other names: nothing of it is like the upstream scripts.
SCRIPT = """\
#!/usr/bin/env bash
set -u
conf=$1; how=$2
get() { grep "^$1:" "$conf" | cut -d: -f2-; }
py=$(get interpreter)
out=work/$(get name)/$how
mkdir -p "$out"
pip install -r requirements.txt
sudo apt-get install -y libgl1 >/dev/null
curl -fsSL http://example.com/data.tgz -o data.tgz || exit 9
wget -q http://example.com/more.tgz && rm -rf cache
export TOY_SEED=7
i=0
while IFS= read -r cards; do
    i=$((i + 1)); save=$out/run$i
    launch=""
    [[ $cards == *,* ]] && launch="-m paddle.distributed.launch --gpus=$cards"
    fit="$py $launch $(get norm_train) --save_dir=$save"
    eval "CUDA_VISIBLE_DEVICES=$cards $fit" 2>&1 | tee "$out/train$i.log"
    if [ ! -f "$save/final.pdparams" ]; then
        echo "training $i failed"; continue
    fi
    $py $(get eval) --weights=$save/final.pdparams > "$out/eval$i.log" 2>&1
    echo "Run successfully with command - $py $(get eval) --weights=$save/final.pdparams!"
    (cd tools && "$py" freeze.py --weights=../$save/final.pdparams --out=../$save/static) >$out/export$i.log
    for threads in 1 4; do
        timeout 5m $py deploy/run.py --model_dir=$save/static --cpu_threads=$threads --device=cpu &
    done
    wait
done < <(get cards | tr ';' '\\n')
echo "all done"
"""


@cache
def why_not_isolated() -> str:
    """Empty where a script can be isolated here."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x.sh").touch()
        try:
            Sandbox(Path(folder).resolve()).record(Path("."), ["x.sh"], "")
        except EnvironmentProblem as problem:
            return problem.message
    return ""


@pytest.fixture(params=["root", "user"])
def who(request: pytest.FixtureRequest) -> Someone:
    return someone(request.param)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A directory that every user can come to; pytest shuts its own again whenever it starts."""
    with tempfile.TemporaryDirectory(prefix="tipc-test-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder).resolve()


@pytest.fixture(autouse=True)
def isolation(request: pytest.FixtureRequest) -> None:
    """Skip what runs scripts where user namespaces are forbidden; the tests of words run anywhere."""
    if request.module.__name__ != "test_trace_words" and why_not_isolated():
        pytest.skip(why_not_isolated())


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Traces of a test are its own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Path]:
    """Make a repository of a script and a config; returns the config's path."""

    def make(script: str = SCRIPT, config: str = CONFIG, name: str = "test_tipc/go.sh") -> Path:
        root = tmp_path / "repo"
        folder = root / "test_tipc" / "configs"
        folder.mkdir(parents=True, exist_ok=True)
        for code in ("tools/fit.py", "tools/freeze.py", "deploy/run.py"):
            (root / code).parent.mkdir(exist_ok=True)
            (root / code).write_text("raise SystemExit('tracing must not run me')\n", encoding="utf-8")
        (root / name).write_text(script, encoding="utf-8")
        (folder / "toy.txt").write_text(config, encoding="utf-8")
        return folder / "toy.txt"

    return make
