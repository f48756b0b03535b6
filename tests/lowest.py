"""The lowest versions that pyproject.toml declares, as constraints for pip: `python
tests/lowest.py` prints them.

`constraints-lowest.txt` is what pip makes of them, with all that they need: `make lowest` installs
it into an environment of its own and runs there a part of the suite that reaches every dependency.
After a lower bound was changed, make that environment anew and write down what it holds
(CONTRIBUTING.md).
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("tables", "spark", "postgres", "server", "mcp", "plots")
_LOWEST = re.compile(
    r"(?P<name>[a-z0-9-]+)(?:\[[a-z]+\])?"
    r"(?:>=(?P<from>[0-9.]+)|==(?P<series>[0-9.]+)\.\*)(?:,<[0-9.]+)?"
)


def lowest() -> dict[str, str]:
    """Package → the lowest version that is declared. A package without a lower bound fails here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        *project["dependencies"],
        *(
            line
            for extra in EXTRAS
            for line in project["optional-dependencies"][extra]
            if not line.startswith("sfumato[")
        ),
    ]
    versions: dict[str, str] = {}
    for line in lines:
        read = _LOWEST.fullmatch(line)
        assert read is not None, f"{line}: a lower bound is declared of every package"
        versions[read["name"]] = read["from"] or read["series"]
    return versions


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in lowest().items())
