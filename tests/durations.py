"""Record how long each test file takes, and choose the quick ones.

    python tests/durations.py build/junit.xml   # writes tests/durations.json from a whole run
    python tests/durations.py                   # prints seconds by folder
    python tests/durations.py --quick           # prints the files that `make quick` runs

The seconds are those of one run on two cores; they choose files and are never compared with a run.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "tests" / "durations.json"
SECONDS_PER_FOLDER = 3.0
"""How many seconds of tests `make quick` takes from each folder, the quickest files first."""


def record(report: Path) -> None:
    """Write the seconds of every test file in a JUnit report, rounded up to a tenth."""
    seconds: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        seconds[file_of(case.attrib["classname"])] += float(case.attrib["time"])
    rounded = {path: round(took + 0.05, 1) for path, took in sorted(seconds.items())}
    RECORD.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


def file_of(classname: str) -> str:
    """The path of a test file, from the dotted name of its module or of a class in it."""
    parts = classname.split(".")
    while parts and not (ROOT / Path(*parts).with_suffix(".py")).exists():
        parts.pop()
    if not parts:
        raise SystemExit(f"no test file belongs to {classname}")
    return Path(*parts).with_suffix(".py").as_posix()


def by_folder() -> dict[str, list[tuple[float, str]]]:
    """The recorded seconds and paths of each folder's files that still exist."""
    folders: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for path, took in json.loads(RECORD.read_text(encoding="utf-8")).items():
        if (ROOT / path).exists():
            folders[Path(path).parent.as_posix()].append((took, path))
    return folders


def quick_files() -> list[str]:
    """For each folder its quickest files, up to SECONDS_PER_FOLDER, and at least one."""
    chosen = []
    for (
        files
    ) in by_folder().values():  # a file without a record waits for the next `make durations`
        total = 0.0
        for took, path in sorted(files):
            if total and total + took > SECONDS_PER_FOLDER:
                break
            total += took
            chosen.append(path)
    return sorted(chosen)


def main() -> None:
    match sys.argv[1:]:
        case ["--quick"]:
            print("\n".join(quick_files()))
        case [report]:
            record(Path(report))
        case _:
            for folder, files in sorted(by_folder().items()):
                print(f"{sum(took for took, _ in files):8.1f} s  {len(files):4d} files  {folder}")


if __name__ == "__main__":
    main()
