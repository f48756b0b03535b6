"""The page docs/mutants.md, from the catalogue: `.venv/bin/python -m tests.auditing.mutants.page`
writes it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from .catalogue import CASES, THEMES

PAGE = Path(__file__).parents[3] / "docs" / "mutants.md"

HEAD = """# Mutants

Does a test catch what it is there to catch? Here are {count} things that break their promise on purpose: mechanisms, plans, accountants, ledgers and local
clients. Each does what some program has done, or what some text says. Beside each stands one that keeps its promise; some of these stand beside several
mutants, so that {others} of them are different. Both are put before the same tool, with the same inputs, and the tool does not know which is which. (One of
the {others} is a client of the product, tried with more inputs than its mutant.) All {count} mutants are caught, and none of the {others} others raises an
alarm. `make test` says so every time.

| Caught by | Mutants | What it does | A false alarm |
|---|---|---|---|
| arithmetic | {arithmetic} | compares exact laws, certified totals, or all neighbours of a small world, with what is claimed | never |
| replay | {replay} | runs on a dataset, then on its neighbours with the same noisy numbers: all that is behind the noise has to agree | never |
| audit | {audit} | `sf.audit` and its probes, which see outputs alone | at most 10⁻⁸ each, below 10⁻⁶ in all |

*Known from* says where the mistake was made: recipes of attack (A floating point, B arithmetic, C what is no number, D queries, E randomness, F ledgers),
errata of the sources (E-01 …, see [Errata](errata.md)), issues of other projects, or a step of an algorithm that is often got wrong. What the tools themselves
do is told in [Auditing](auditing.md). The page is made from `tests/auditing/mutants`.
"""


def page() -> str:
    """The whole page."""
    how = Counter(case.how for case in CASES.values())
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
