"""Write docs/why/mutants.md from the catalogue of mutants.

`.venv/bin/python -m tests.auditing.mutants.page` runs this.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .catalogue import CASES, THEMES

PAGE = Path(__file__).parents[3] / "docs" / "why" / "mutants.md"

HEAD = """# Mutants

Does a test catch what it is there to catch? Here are {count} mutants, which break their promise on
purpose: mechanisms, plans, accountants, ledgers and local clients. Each repeats a mistake of some
program or text. Each has a correct counterpart that keeps its promise; some counterparts serve
several mutants, so {others} of them are different. The same tool sees both, with the same inputs,
and does not know which is which. (One of the {others} is a client of the product, tried with more
inputs than its mutant.) The tools catch all {count} mutants and raise no alarm for any of the
{others} others. `make test` checks this every time.

| Caught by | Mutants | What it does | A false alarm |
|---|---|---|---|
| arithmetic | {arithmetic} | compares exact laws, totals or small worlds with the claim | never |
| replay | {replay} | replays the same noisy numbers on neighbours: all else must agree | never |
| audit | {audit} | `sf.audit` and its probes, on outputs alone | ≤ 10⁻⁸ each, < 10⁻⁶ in all |

*Known from* says where the mistake was made: attack recipes (A floating point, B arithmetic, C what
is no number, D queries, E randomness, F ledgers), errata of the sources (E-01 …, see
[Errata](errata.md)), issues of other projects, or a step of an algorithm that is often got wrong.
[Auditing](auditing.md) describes the tools. `tests/auditing/mutants` generates this page.
"""


def page() -> str:
    """Build the page."""
    how: Counter[str] = Counter(case.how for case in CASES.values())
    parts = [
        HEAD.format(
            count=len(CASES), others=len({repr(case.correct) for case in CASES.values()}), **how
        )
    ]
    for theme, module in THEMES.items():
        rows = [
            f"| {case.wrong} | {case.right} | {', '.join(case.known_from)} | {case.how} |"
            for case in module.CASES.values()
        ]
        parts.append(
            "\n".join(
                [
                    f"## {theme}\n",
                    "| Mutant | In its place | Known from | Caught by |",
                    "|---|---|---|---|",
                    *rows,
                ]
            )
            + "\n"
        )
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
