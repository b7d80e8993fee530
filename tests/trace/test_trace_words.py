"""What the tracer reads from words: kinds, launchers, options, lookups, status lines, scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.command import Command
from tipc.config.source import source_of
from tipc.errors import UsageError
from tipc.plan.trace.read.purposes import kind_of, purpose_of, purposes
from tipc.plan.trace.read.status import status_lines
from tipc.plan.trace.record import demand
from tipc.plan.trace.record.find_script import find_script

REPO = Path("/repo")


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("python train.py -c x.yml", "train"),
        ("python3.7 -m paddle.distributed.launch --gpus 0,1 tools/train.py", "train"),
        ("python -u -B -W ignore tools/finetune_gpt.py", "train"),
        ("python train.py --test-only", "eval"),
        ("python main.py --mode=eval", "eval"),
        ("python main.py --mode test", "eval"),
        ("python main.py train --lr 1", "train"),
        ("python tools/test.py", "eval"),
        ("python tools/val.py", "eval"),
        ("python run_eval.py", "eval"),
        ("python tools/export_model.py", "export"),
        ("python to_static.py", "export"),
        ("paddle2onnx --model_dir x", "export"),
        ("fleetrun --gpus=0,1 tools/train.py -c x", "train"),
        ("mpirun -np 2 python tools/eval.py", "eval"),
        ("xparl start lite_train_lite_infer", "prepare"),
        ("python deploy/python/infer.py --train_dir x", "infer"),
        ("python predict_cls.py", "infer"),
        ("python tools/infer/predict_det.py", "infer"),
        ("python -m paddlespeech.exps.tts.synthesize_e2e --phase=infer", "infer"),
        ("python train.py --do_eval", "train"),
        ("python tools/make_lists.py", "prepare"),
        ("python -m ppcls.train", "train"),
    ],
)
def test_the_kind_is_told_from_the_words(command: str, kind: str) -> None:
    assert kind_of(Command(tuple(command.split())), None) == kind


def test_the_config_knows_better_than_the_words() -> None:
    source = source_of(
        b"norm_train:main.py -c a.yml\namp_train:main.py -c a.yml\neval:main.py -c a.yml --score\n"
        b"pact_export:main.py --freeze\ninference:python/x.py\nnull:null\n",
        "c",
    )
    known = purposes(source)

    def purpose(command: str, cwd: str = ".") -> tuple[str, str] | None:
        found = purpose_of(Command(tuple(command.split())), known, cwd)
        return (found.key, found.kind) if found else None

    assert purpose("python main.py -c a.yml --out=o/norm_train_gpus_0") == ("norm_train", "train")
    assert purpose("python main.py -c a.yml --out=o/amp_train_gpus_0") == ("amp_train", "train")
    assert purpose("python main.py -c a.yml --score --w=x") == ("eval", "eval")
    assert purpose("python main.py --freeze") == ("pact_export", "export")
    assert purpose("python x.py", "python") == ("inference", "infer")
    assert purpose("python other.py") is None


TRACE = """\
+ 1.0 /repo\t'[' -d data ']'
+ 2.0 /repo\tpython train.py --save=out/a
+ 3.0 /repo\t[[ -f out/a/best.pdparams ]]
++ 4.0 /repo\tcat out/a/train.log
+ 5.0 /repo/out\ttest -s 'a/two words'
+ 6.0 /repo\tcp out/a/x.txt /elsewhere/y
+ 7.0 /repo\tgrep -q loss out/a/log.txt
+ 8.0 /repo\tcd deploy
+ 9.0 /repo\techo not 'a lookup'
+ 9.5 /repo\t'[' -f out/error.log ']'
garbage
"""


def test_lookups_are_found_in_what_bash_wrote_down() -> None:
    found = [(look.path, look.directory) for look in demand.lookups(TRACE, REPO)]
    assert found == [
        ("/repo/data", True),
        ("/repo/out/a/best.pdparams", False),
        ("/repo/out/a/train.log", False),
        ("/repo/out/a/two words", False),
        ("/repo/out/a/x.txt", False),
        ("/repo/out/a/log.txt", False),
        ("/repo/deploy", True),
    ]


@given(st.text())
def test_any_text_is_read_without_failing(text: str) -> None:
    list(demand.lookups(f"+ 1.0 /repo\t[ {text}", REPO))
    list(demand.lookups(text, REPO))
    demand.programs(text, REPO, lambda path: False)
    status_lines(text, [["python", text]])
    list(Command(("python", text, text)).values())
    purposes(source_of(text.encode("utf-8", "surrogatepass"), "c"))


def test_status_lines_go_to_their_commands() -> None:
    good = ' Run successfully with command - m - python a.py --x=1   --y="2" > log 2>&1 !  '
    stdout = f"noise\n\x1b[33m{good}\x1b[0m\n\x1b[33m Run failed with command - m - python b.py!  \x1b[0m\n"
    commands = [["python", "b.py"], ["python", "a.py", "--x=1", "--y=2"], ["python", "c.py"]]
    assert status_lines(stdout, commands) == [" Run successfully with command - m - python b.py!  ", good, ""]


def test_the_script_of_a_config_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "test_tipc"
    (folder / "configs").mkdir(parents=True)
    config = folder / "configs" / "train_ptq_infer_python.txt"
    for name in (
        "prepare.sh",
        "common_func.sh",
        "test_train_inference_python.sh",
        "test_ptq_inference_python.sh",
    ):
        (folder / name).touch()
    assert find_script(config, tmp_path) == Path("test_tipc/test_ptq_inference_python.sh")
    usual = folder / "configs" / "train_infer_python.txt"
    assert find_script(usual, tmp_path) == Path("test_tipc/test_train_inference_python.sh")
    assert find_script(usual, tmp_path, "test_tipc/prepare.sh") == Path("test_tipc/prepare.sh")
    with pytest.raises(UsageError, match="there is no script"):
        find_script(usual, tmp_path, "missing.sh")
