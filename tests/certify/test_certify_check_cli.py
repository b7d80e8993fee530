"""``tipc check``: the spec's checklist, on repositories that ``tipc init`` made and somebody completed."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from tipc.cli.main import main

BASE = "configs/toy/train_infer_python.txt"
SCRIPTS = ("train.py", "eval.py", "predict.py", "tools/export_model.py", "deploy/inference_python/infer.py")


def archive(images: int = 8, listed: int | None = None) -> bytes:
    """A lite_data.tar with two splits."""
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as tar:

        def add(name: str, data: bytes) -> None:
            info = tarfile.TarInfo(f"lite_data/{name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        for split in ("train", "val"):
            for index in range(images):
                add(f"{split}/{index}.jpg", b"jpeg" * 200)
            names = [f"{split}/{index}.jpg 0\n" for index in range(images if listed is None else listed)]
            add(f"{split}_list.txt", "".join(names).encode())
    return sink.getvalue()


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A repository in which everything that the spec lists is there, but nothing was ever run."""
    monkeypatch.setenv("TIPC_HOME", str(tmp_path / "home"))
    root = tmp_path / "repo"
    root.mkdir()
    for name in SCRIPTS:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("print('written')\n")
    assert main(["init", str(root), "--model", "toy", "--img-path", "./lite_data/val"]) == 0
    (root / "test_tipc" / "parity.py").write_text("def samples(request): return []\n")
    (root / "lite_data.tar").write_bytes(archive())
    capsys.readouterr()
    return root


def checklist(repo: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    code = main(["check", str(repo), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert code == (0 if data["passed"] else 1)
    return {finding["check"]: finding for finding in data["findings"]}


def test_a_complete_repository_lacks_nothing_but_a_run(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checklist(repo, capsys)
    assert {check for check, one in found.items() if one["status"] != "pass"} == {"TD808"}
    assert "never run" in str(found["TD808"]["message"])


LIES = {
    "half a tar": ("TD805", "cannot be unpacked", lambda root: cut(root, 0.5)),
    "a tar without its end": ("TD805", "cut off", lambda root: cut(root, -10240)),
    "a list of images that are not there": (
        "TD805", "train_list.txt:9 train/8.jpg",
        lambda root: (root / "lite_data.tar").write_bytes(archive(8, 10)),
    ),
    "three images a split": (
        "TD806", "3 images", lambda root: (root / "lite_data.tar").write_bytes(archive(3)),
    ),
    "twenty-one megabytes": ("TD805", "20 MB", lambda root: grow(root)),
    "data at another place": (
        "TD807", "./other_data", lambda root: replace_in(root, BASE, "./lite_data\n", "./other_data\n"),
    ),
    "a document that mentions another model": (
        "TD804", "toy is not mentioned",
        lambda root: replace_in(root, "docs/test_train_pact_inference_python.md", "toy", "cat"),
    ),
    "no PACT config": (
        "TD803", "toy PACT",
        lambda root: (root / "test_tipc/configs/toy/train_pact_infer_python.txt").unlink(),
    ),
    "a config that is no config": (
        "TD803", "and is none",
        lambda root: (root / "test_tipc/configs/toy/train_amp_infer_python.txt").write_text("x\n"),
    ),
    "no inference script": ("TD801", "inference", lambda root: (root / SCRIPTS[-1]).unlink()),
    "no script to run the chain": (
        "TD802", "test_train_inference_python.sh",
        lambda root: (root / "test_tipc/test_train_inference_python.sh").unlink(),
    ),
    "no parity": ("TD809", "no test_tipc/parity.py", lambda root: (root / "test_tipc/parity.py").unlink()),
}  # fmt: skip


def cut(root: Path, share: float) -> None:
    data = (root / "lite_data.tar").read_bytes()
    if share < 0:
        data = data[: data.rindex(b"val/7.jpg 0\n") + 12]
        data += b"\0" * (-len(data) % 512)
    (root / "lite_data.tar").write_bytes(data if share < 0 else data[: int(len(data) * share)])


def grow(root: Path) -> None:
    path = root / "lite_data.tar"
    path.write_bytes(path.read_bytes() + bytes(21_000_000))


def replace_in(root: Path, name: str, old: str, new: str) -> None:
    path = root / "test_tipc" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("name", LIES)
def test_what_is_missing_is_named(name: str, repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check, words, spoil = LIES[name]
    spoil(repo)
    finding = checklist(repo, capsys)[check]
    assert finding["status"] == "fail", finding
    assert words in json.dumps(finding, ensure_ascii=False), finding
    assert finding["remedy"]


def test_an_archive_that_would_write_elsewhere_is_refused(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open(repo / "lite_data.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("../../etc/cron.d/x"))
    assert "outside the repository" in str(checklist(repo, capsys)["TD805"]["message"])


def test_the_markdown_is_a_task_list_without_markup_of_the_repository(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(repo), "--markdown"]) == 1
    text = capsys.readouterr().out
    assert "- [x] **TD801**" in text
    assert "- [ ] **TD808**" in text
    assert "train\\_infer\\_python.txt" in text


def test_an_empty_directory_and_none_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path)]) == 1
    assert "0 of 9 points are in order" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "nowhere")]) == 2
