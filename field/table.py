"""The table: repository, config, what the bash says, what ``tipc`` says, which is right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from field.bash_run import BashSays
from field.rows import Row
from field.tipc_run import TipcSays


@dataclass(frozen=True)
class Result:
    """One row, measured."""

    row: Row
    commit: str
    bash: BashSays
    tipc: TipcSays

    @property
    def honest(self) -> bool:
        """Every command ended well, and nothing is known to be broken in the repository."""
        return not self.bash.broken and self.bash.exit is not None and not self.row.fault

    @property
    def bash_is_right(self) -> bool:
        return self.bash.claims_success == self.honest

    @property
    def tipc_is_right(self) -> bool:
        return self.tipc.certified == self.honest

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.row.id,
            "commit": self.commit,
            "bash": asdict(self.bash),
            "tipc": asdict(self.tipc),
        }


def load(row: Row, path: Path) -> Result | None:
    """A result that was measured before."""
    if not path.exists():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    return Result(row, record["commit"], BashSays(**record["bash"]), TipcSays(**record["tipc"]))


def save(result: Result, path: Path) -> None:
    """Keep a result, whole or not at all."""
    scratch = path.with_suffix(".new")
    scratch.write_text(json.dumps(result.as_json(), indent=1), encoding="utf-8")
    scratch.replace(path)


def markdown(results: Iterable[Result]) -> str:
    """The table for docs/field.md."""
    lines = [
        "| repository | config | chain | what happened | the bash says | tipc says | right |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    results = list(results)
    lines += [_row(result) for result in results]
    return "\n".join(lines) + f"\n\n{_by_what_code(results)}\n"


def _by_what_code(results: list[Result]) -> str:
    """Which code judged the rows, when, and how busy the machine was."""
    rows = Counter((result.tipc.code or "unknown", result.tipc.date or "unknown") for result in results)
    lines = [f"{count} rows by {code}, {date}" for (code, date), count in rows.items()]
    loads = sorted(result.tipc.load for result in results)
    if loads:
        lines.append(f"load {loads[0]} to {loads[-1]}")
    lines.append(f"tipc is right in {sum(result.tipc_is_right for result in results)} of {len(results)}")
    lines.append(f"the bash in {sum(result.bash_is_right for result in results)}")
    return "; ".join(lines) + "."


def _row(result: Result) -> str:
    bash, tipc = result.bash, result.tipc
    said = f"{bash.successes} successfully, {bash.failures} failed"
    said += f"; exit {_code(bash.exit)}; {bash.seconds:.0f} s"
    ours = f"{tipc.headline.split(' · ')[0]}{_checks(tipc)}; exit {_code(tipc.exit)}; {tipc.seconds:.0f} s"
    cells = [
        result.row.repository,
        result.row.model,
        f"{result.row.chain}, as found" if result.row.found else result.row.chain,
        what_happened(result),
        said,
        ours,
        _right(result),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _checks(tipc: TipcSays) -> str:
    """The checks that stand against a pass: `` (TB604, TQ404)``."""
    codes = dict.fromkeys(line.split()[0] for line in tipc.against)
    return f" ({', '.join(codes)})" if codes else ""


def what_happened(result: Result) -> str:
    """The truth of a row in a few words."""
    if result.row.fault:
        return result.row.fault
    if result.bash.broken:
        return f"{len(result.bash.broken)} of {result.bash.commands} commands broke: {result.bash.broken[0]}"
    if result.bash.exit is None:
        return "not done in time"
    return f"all {result.bash.commands} commands ended well"


def _right(result: Result) -> str:
    who = []
    if result.bash_is_right:
        who.append("bash")
    if result.tipc_is_right:
        who.append("tipc")
    return " and ".join(who) or "neither"


def _code(code: int | None) -> str:
    return "none (stopped)" if code is None else str(code)
