"""``python -m field``: every row that a checkout is there for. Results are kept; a later call goes on."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from field.bash_run import run_bash
from field.environment import make_environment
from field.rows import REPOSITORIES, ROWS, Row
from field.table import Result, load, markdown, save
from field.tipc_run import commit_of, judge_again, run_tipc
from field.work import copy_checkout, held

LIMIT = 1500.0


def main(argv: list[str]) -> int:
    """0 if ``tipc`` is right in every row that was run."""
    options = _parser().parse_args(argv)
    checkouts = Path(os.environ.get("TIPC_FIELD", ""))
    if not os.environ.get("TIPC_FIELD") or not checkouts.is_dir():
        print("field: skipped, TIPC_FIELD names no folder with checkouts")
        return 0
    work = Path(options.work).resolve()
    results = []
    for row in ROWS:
        if options.only and not any(_is_meant(row, word) for word in options.only):
            continue
        if not (checkouts / REPOSITORIES[row.repository].root / "test_tipc").is_dir():
            print(f"{row.id}: skipped, there is no checkout of {row.repository}")
            continue
        if options.table:
            result = _kept(row, work)
        else:
            with held(_folder(row, work)):
                result = _row(row, checkouts, work, options)
        if result is not None:
            results.append(result)
    print(markdown(results))
    return 0 if all(result.tipc_is_right for result in results) else 1


def _is_meant(row: Row, word: str) -> bool:
    """A whole name means one row, the beginning of names every row that begins so."""
    if any(one.id == word for one in ROWS):
        return row.id == word
    return row.id.startswith(word)


def _folder(row: Row, work: Path) -> Path:
    return work / "rows" / row.id.replace("/", "-")


def _kept(row: Row, work: Path) -> Result | None:
    return load(row, _folder(row, work) / "result.json")


def _row(row: Row, checkouts: Path, work: Path, options: argparse.Namespace) -> Result:
    folder = _folder(row, work)
    kept = _kept(row, work)
    if kept is not None and not (options.again or options.again_tipc or options.judge_again):
        return kept
    with held(work / "envs"):
        env = make_environment(REPOSITORIES[row.repository], work / "envs")
    if kept is not None and options.judge_again:
        return _judged_again(kept, env, folder, options.limit)
    if kept is not None and options.again_tipc:
        bash = kept.bash
    else:
        print(f"{row.id}: bash", flush=True)
        root = copy_checkout(row, checkouts, folder / "bash")
        bash = run_bash(row, root, env, folder, options.limit)
    print(f"{row.id}: tipc", flush=True)
    root = copy_checkout(row, checkouts, folder / "tipc")
    tipc = run_tipc(row, root, env, folder, options.limit)
    result = Result(row, commit_of(checkouts / row.repository), bash, tipc)
    save(result, folder / "result.json")
    _tell(result)
    return result


def _judged_again(kept: Result, env: Path, folder: Path, limit: float) -> Result:
    row = kept.row
    print(f"{row.id}: judged again", flush=True)
    root = folder / "tipc" / Path(REPOSITORIES[row.repository].root).name
    tipc = judge_again(row, root, env, folder, limit, kept.tipc.seconds)
    result = Result(row, kept.commit, kept.bash, tipc)
    save(result, folder / "result.json")
    _tell(result)
    return result


def _tell(result: Result) -> None:
    print(f"  bash: {result.bash}")
    print(f"  tipc: {result.tipc.headline} (exit {result.tipc.exit}, {result.tipc.seconds} s)")
    for line in (*result.tipc.failed_steps, *result.tipc.against):
        print(f"    {line[:300]}")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m field", description=__doc__)
    add = parser.add_argument
    add("--only", action="append", metavar="ROW", help="one row, or those that begin so: PaddleSeg/")
    add("--table", action="store_true", help="show what was measured before, run nothing")
    add("--again", action="store_true", help="run rows that have a result, too")
    add("--again-tipc", action="store_true", help="run tipc again; what the bash did is kept")
    add("--judge-again", action="store_true", help="run only the checks again, on the runs that are kept")
    add(
        "--work",
        default=os.environ.get("TIPC_FIELD_WORK", ".field"),
        metavar="DIR",
        help="copies and results",
    )
    add("--limit", type=float, default=LIMIT, metavar="SECONDS", help="stop a run that takes longer")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
