"""``tipc check``: the spec's checklist, on repositories that ``tipc init`` made and somebody completed."""

from __future__ import annotations

import io
import json
import shutil
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
    (root / "requirements.txt").write_text("paddlepaddle\n")
    write_readme(root)
    (root / "lite_data.tar").write_bytes(archive())
    capsys.readouterr()
    return root


HEADINGS = (
    "Toy", "1. Introduction", "2. Data and accuracy", "3. Environment", "3.2 Data", "3.3 Model",
    "4.1 Training", "4.2 Evaluation", "4.3 Prediction", "5. Deployment", "6. Test script",
    "7. Licence", "8. References",
)  # fmt: skip


def write_readme(root: Path) -> None:
    """A README in the template, with a command for each script and two pictures."""
    commands = "".join(f"python {name} --help\n" for name in SCRIPTS)
    (root / "images").mkdir()
    for name in ("demo", "result"):
        (root / "images" / f"{name}.jpg").write_bytes(b"\xff\xd8\xff\xe0" + name.encode())
    parts = [f"# {heading}\n\nAbout {heading}, with 98.7 %.\n" for heading in HEADINGS]
    parts += ["Paper: https://arxiv.org/abs/1. Thanks to its authors.", "Reference: https://github.com/a/b"]
    parts += ["```bash", "pip install -r requirements.txt", commands + "```", "![a](images/demo.jpg)"]
    parts += ["![b](images/result.jpg)", ""]
    (root / "README.md").write_text("\n".join(parts))


def checklist(repo: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, dict[str, object]]:
    code = main(["check", str(repo), "--json", *more])
    data = json.loads(capsys.readouterr().out)
    assert code == (0 if data["passed"] else 1)
    return {finding["check"]: finding for finding in data["findings"]}


def test_a_complete_repository_lacks_nothing_but_a_run(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checklist(repo, capsys)
    assert {check for check, one in found.items() if one["status"] != "pass"} == {"TD808", "TD814", "TD815"}
    assert "never run" in str(found["TD808"]["message"])


LIES = {
    "half a tar": ("TD805", "cannot be unpacked", lambda root: cut(root, 0.5)),
    "a tar without its end": ("TD805", "cut off", lambda root: cut(root, -10240)),
    "a list of images that are not there": (
        "TD805", "train_list.txt:9 train/8.jpg",
        lambda root: (root / "lite_data.tar").write_bytes(archive(8, 10)),
    ),
    "three images a split": (
        "TD806", "images: 3", lambda root: (root / "lite_data.tar").write_bytes(archive(3)),
    ),
    "twenty-one megabytes": ("TD805", "20 MB", lambda root: grow(root)),
    "data at another place": (
        "TD807", "./other_data", lambda root: replace_in(root, BASE, "./lite_data\n", "./other_data\n"),
    ),
    "a document that mentions another model": (
        "TD804", "toy is not mentioned",
        lambda root: replace_in(root, "docs/test_train_pact_inference_python.md", "toy", "cat"),
    ),
    "a config that is no config": (
        "TD803", "no dialect fits it",
        lambda root: (root / "test_tipc/configs/toy/train_amp_infer_python.txt").write_text("x\n"),
    ),
    "a config for mixed precision that is a copy of the base": (
        "TD803", "it has no cell of AMP",
        lambda root: shutil.copy(
            root / "test_tipc" / BASE, root / "test_tipc/configs/toy/train_amp_infer_python.txt"
        ),
    ),
    "no inference script": ("TD801", "inference", lambda root: (root / SCRIPTS[-1]).unlink()),
    "no script to run the chain": (
        "TD802", "test_train_inference_python.sh",
        lambda root: (root / "test_tipc/test_train_inference_python.sh").unlink(),
    ),
    "a parity that nobody wrote": (
        "TD809", "still the skeleton",
        lambda root: (root / "test_tipc/parity.py").write_text("raise NotImplementedError()"),
    ),
    "a document without a command": (
        "TD804", "no shell block runs",
        lambda root: replace_in(root, "docs/test_train_inference_python.md", "```bash", "```"),
    ),
    "a README of one line": (
        "TD811", "no such chapter", lambda root: (root / "README.md").write_text("# x\n"),
    ),
    "a README without its paper": (
        "TD811", "the paper",
        lambda root: replace_in(root, "../README.md", "Paper: https://arxiv.org/abs/1.", ""),
    ),
    "a README that names a paper and gives no link": (
        "TD811", "a link to the paper: not there",
        lambda root: replace_in(root, "../README.md", "https://arxiv.org/abs/1.", "its title."),
    ),
    "a README of headings": (
        "TD811", "there is nothing in it",
        lambda root: (root / "README.md").write_text("\n".join(f"# {heading}" for heading in HEADINGS)),
    ),
    "a README without a figure of accuracy": (
        "TD811", "there is no figure in it",
        lambda root: replace_in(root, "../README.md", "with 98.7 %", "as good as any"),
    ),
    "a README that is still the template": (
        "TD811", "it is still the template's",
        lambda root: replace_in(root, "../README.md", "About 7. Licence", "<!-- tipc:todo --> 7"),
    ),
    "no command for the export": (
        "TD812", "no command runs tools/export_model.py",
        lambda root: replace_in(root, "../README.md", "tools/export_model.py", "tools/other.py"),
    ),
    "the sample shown twice": (
        "TD813", "one picture",
        lambda root: (root / "images/result.jpg").write_bytes((root / "images/demo.jpg").read_bytes()),
    ),
    "a picture that is none": (
        "TD813", "no document shows",
        lambda root: [(root / f"images/{name}.jpg").write_text("x") for name in ("demo", "result")],
    ),
    "no requirements": (
        "TD810", "there is no requirements.txt", lambda root: (root / "requirements.txt").unlink(),
    ),
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
    assert "1 of 15 points are in order" in capsys.readouterr().out
    assert main(["check", str(tmp_path / "nowhere")]) == 2


def test_a_level_is_the_highest_that_every_model_has_unless_one_is_asked_for(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "test_tipc/configs/toy/train_pact_infer_python.txt").unlink()
    (repo / "test_tipc/prepare.sh").unlink()
    found = checklist(repo, capsys)
    assert found["TD803"]["status"] == found["TD802"]["status"] == "pass"
    assert "base + AMP" in str(found["TD803"]["message"])
    found = checklist(repo, capsys, "--level", "all")
    assert "toy PACT" in str(found["TD803"]["message"])
    assert "prepare.sh" in str(found["TD802"]["message"])
    (repo / "test_tipc/configs/toy/train_amp_infer_python.txt").unlink()
    assert "level base:" in str(checklist(repo, capsys)["TD803"]["message"])
    assert "toy AMP" in str(checklist(repo, capsys, "--level", "amp")["TD803"]["message"])


def test_both_names_of_the_document_for_pact_are_accepted(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = repo / "test_tipc/docs"
    (docs / "test_train_pact_inference_python.md").rename(docs / "test_pact_train_infer_python.md")
    assert checklist(repo, capsys)["TD804"]["status"] == "pass"


def test_the_runs_of_a_repository_are_found_in_it_and_where_tipc_was_called(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tipc.run.record.run_store import create_run, runs_of

    monkeypatch.delenv("TIPC_HOME")
    monkeypatch.chdir(tmp_path)
    made = []
    for where in (repo / ".tipc", tmp_path / ".tipc", repo / ".tipc"):
        with create_run([], {}, where=where) as journal:
            made.append(journal.directory)
    assert runs_of(repo) == made
    monkeypatch.chdir(repo)
    assert runs_of(Path()) == [made[0], made[2]]
    monkeypatch.setenv("TIPC_HOME", str(tmp_path / ".tipc"))
    assert runs_of(repo) == [made[1]]


def test_the_commands_of_the_documents_are_run_in_a_copy(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in SCRIPTS:
        (repo / name).write_text("import pathlib; pathlib.Path('made-by-docs').touch()")
    for path in (repo / "test_tipc").rglob("*.md"):
        path.write_text(path.read_text().replace("```bash", "```"))  # its chain is not what is tested here
    text = (repo / "README.md").read_text()
    text += (
        "<!-- tipc:needs npu -->\n```bash\nexit 3\n```\n```bash\npython run.py --data /path/to/data\n```\n"
        "```bash\npip install nothing-of-that-name\n```\n"
    )
    (repo / "README.md").write_text(text)
    found = checklist(repo, capsys, "--run-docs")["TD814"]
    assert found["status"] == "pass", found
    assert "it only installs" in json.dumps(found)
    assert "1 blocks of commands, 3 left out" in str(found["message"])
    assert not (repo / "made-by-docs").exists()
    (repo / "train.py").write_text("raise SystemExit(7)")
    found = checklist(repo, capsys, "--run-docs")["TD814"]
    assert found["status"] == "fail"
    assert "exit 7" in json.dumps(found)
    log = next((repo / ".tipc/docs").glob("*/00-README.md-*.log")).read_text()
    assert "python train.py --help" in log
    assert "pip install" not in log


def test_recordings_that_are_given_are_compared(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tipc.align import STAGES, Recorder

    for name, value in (("ref", 1.0), ("same", 1.0), ("other", 1.5)):
        with Recorder(repo / f"{name}.npz") as record:
            for stage in STAGES:
                record.add(stage, "number", 1.0)
            record.forward("logits", value)
    paths = [str(repo / f"{name}.npz") for name in ("ref", "same", "other")]
    assert checklist(repo, capsys, "--align", paths[0], paths[1])["TD815"]["status"] == "pass"
    found = checklist(repo, capsys, "--align", paths[0], paths[2])["TD815"]
    assert "forward/logits" in str(found["message"])
    assert found["status"] == "fail"
    loose = checklist(repo, capsys, "--align", paths[0], paths[2], "--threshold", "forward/logits=0.6")
    assert loose["TD815"]["status"] == "pass"


def test_recordings_of_some_stages_leave_the_point_open(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tipc.align import Recorder

    with Recorder(repo / "ref.npz") as record:
        record.data("images", [1.0])
    found = checklist(repo, capsys, "--align", str(repo / "ref.npz"), str(repo / "ref.npz"))["TD815"]
    assert found["status"] == "unchecked"
    assert "weights" in str(found["message"])


@pytest.mark.parametrize(
    ("folder", "status"),
    [("other", "fail"), ("toy_small", "pass"), ("to-y", "pass")],
)
def test_a_config_that_was_copied_names_its_own_model(
    repo: Path, capsys: pytest.CaptureFixture[str], folder: str, status: str
) -> None:
    """A name that adds to its folder's, or is written another way, is the model's own."""
    configs = repo / "test_tipc" / "configs"
    (configs / folder).mkdir()
    for path in (configs / "toy").glob("*.txt"):
        (configs / folder / path.name).write_text(path.read_text())
    found = checklist(repo, capsys)["TD803"]
    assert found["status"] == status
    assert ("its model_name is toy, another model's" in str(found)) == (status == "fail")


def test_a_config_that_still_names_the_model_of_the_specifications_template_fails(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (repo / "test_tipc" / "configs" / "toy").glob("*.txt"):
        path.write_text(path.read_text().replace("model_name:toy", "model_name:mobilenet_v3_small", 1))
    assert checklist(repo, capsys)["TD803"]["status"] == "fail"


def test_a_config_of_another_chain_asks_for_no_training(repo: Path) -> None:
    """PaddleSeg's models ..._KL are quantised after training: they have no base config, and no PACT."""
    from dataclasses import replace

    from tipc.certify.checks.repo import kinds_by_model
    from tipc.certify.repository import read_repository
    from tipc.kinds import PTQ_CHAIN

    scene = read_repository(repo)
    quantised = replace(scene.plans[0], model="toy_KL", chain=PTQ_CHAIN)
    models = kinds_by_model(replace(scene, plans=(*scene.plans, quantised)))
    assert list(models) == ["toy"]
