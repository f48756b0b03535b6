"""Write the report of the studies: one self-contained HTML page, and the same numbers as CSV.

*Page*      An overview, then every study: picture, sentence, a table of printed and our numbers,
            and a comparison with the right way. No script, nothing fetched.
*CSV*       `csv/<study>.csv`, `csv/<study>-right-way.csv`, and `csv/all.csv`.
"""

from __future__ import annotations

import base64
import csv
from collections.abc import Iterator, Sequence
from html import escape
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from . import study_refusals as refusals
from .printed import shown
from .report_style import STYLE
from .study import Comparison, Study, StudyResult, StudyRow, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Done = Sequence[tuple[Study, StudyResult]]

COLUMNS = (
    "study",
    "source",
    "cell",
    "printed",
    "ours",
    "median_or_mean",
    "low_90",
    "high_90",
    "band_low",
    "band_high",
    "verdict",
    "errata",
    "sentence",
)
RIGHT = ("study", "source", "what", "measure", "faithful", "right", "saved", "remark")
KINDS = {
    Verdict.AGREES: "agrees",
    Verdict.MISPRINT: "misprint",
    Verdict.UNSAFE: "unsafe",
    Verdict.DIFFERS: "differs",
}
"""The CSS class of each verdict's badge."""

INTRODUCTION = """<p>Every table and figure of a thesis and four lecture decks on differential
privacy, run again: each printed number beside ours, and beside the faithful run the right way.
Data are public and seeded (seed {seed}); noise comes from the operating system, so no two reports
are the same. {repetitions} repetitions, fewer where one takes long.</p>
<dl class="legend">
<dt><span class="badge agrees">agrees</span></dt>
<dd>The printed number is one random run and lies where 1 − 10⁻⁶ of our runs lie; or it follows
from other numbers, and is exactly what follows.</dd>
<dt><span class="badge misprint">misprint</span></dt>
<dd>The printed number is wrong: other printed numbers, or the exact value, show it by arithmetic,
and show what would be right.</dd>
<dt><span class="badge unsafe">set-up unsafe</span></dt>
<dd>The set-up does not keep the promise printed with it; “ours” is the promise that it keeps.</dd>
<dt><span class="badge differs">differs</span></dt><dd>Outside the band with no explanation.</dd>
</dl>
<p>A printed number stands for every number that rounds to it or is truncated to it. “Ours” is the
median (a mean, where a mean is printed) with the middle 90 % of repetitions below it. Of all
corrections that reconcile contradicting numbers with each other and with the law of the noise, the
one with the fewest cells counts; a difference is corrected before the numbers it is the difference
of. E-numbers name errata of the sources.</p>"""


def write(done: Done, out: Path, *, repetitions: int, seed: int) -> Path:
    """Write the page and the CSVs into a prepared directory, and return the page's path."""
    every: list[tuple[object, ...]] = []
    files: dict[str, str] = {}
    for study, result in done:
        rows = [_fields(study, row) for row in result.rows]
        every += rows
        files[f"csv/{study.name}.csv"] = _csv(COLUMNS, rows)
        if result.comparisons:
            files[f"csv/{study.name}-right-way.csv"] = _csv(
                RIGHT, [_right_fields(study, comparison) for comparison in result.comparisons]
            )
    files |= {
        "csv/all.csv": _csv(COLUMNS, every),
        "index.html": render(done, repetitions=repetitions, seed=seed),
    }
    for name, content in files.items():
        (out / name).write_text(content, encoding="utf-8")
    return out / "index.html"


def prepare(out: Path) -> None:
    """Make the directories, or refuse before any study runs."""
    try:
        (out / "csv").mkdir(parents=True, exist_ok=True)
        (out / "index.html").touch()
    except OSError:
        raise refusals.REPORT_NOT_WRITABLE(out=out) from None


def render(done: Done, *, repetitions: int, seed: int) -> str:
    """Render the report as an HTML page."""
    parts = "".join(_study(study, result) for study, result in done)
    introduction = INTRODUCTION.format(repetitions=repetitions, seed=seed)
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>The '
        "sources, reproduced</title>"
    )
    body = (
        f"<header><h1>The sources, "
        f"reproduced</h1>{_totals(done)}{introduction}</header>{_overview(done)}{parts}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>'
        f"<body><main>{body}</main></body></html>\n"
    )


def _totals(done: Done) -> str:
    counts = {verdict: sum(result.count(verdict) for _, result in done) for verdict in Verdict}
    cells = "".join(
        f'<div class="total {KINDS[v]}"><b>{count}</b><span>{v}</span></div>'
        for v, count in counts.items()
        if count or v is not Verdict.DIFFERS
    )
    return (
        f'<div class="totals"><div '
        f'class="total"><b>{len(done)}</b><span>studies</span></div>{cells}</div>'
    )


def _overview(done: Done) -> str:
    head = "".join(
        f"<th>{title}</th>"
        for title in ("Study", "agrees", "misprint", "unsafe", "differs", "Errata")
    )
    lines = []
    for study, result in done:
        counts = "".join(_count(result.count(verdict), KINDS[verdict]) for verdict in Verdict)
        errata = ", ".join(sorted({e for row in result.rows for e in row.errata}))
        link = f'<a href="#{escape(study.name)}">{escape(study.title)}</a>'
        lines.append(
            f"<tr><td>{link} "
            f"<small>{escape(study.source)}</small></td>{counts}<td>{errata}</td></tr>"
        )
    return (
        '<section><h2>Overview</h2><div class="wide"><table '
        f'class="overview"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
        "</div></section>"
    )


def _count(count: int, kind: str) -> str:
    return (
        f"<td "
        f'class="count">{f"""<span class="badge {kind}">{count}</span>""" if count else "·"}</td>'
    )


def _study(study: Study, result: StudyResult) -> str:
    pictures = "".join(
        f'<figure><img alt="{escape(name)}" src="data:image/png;base64,{_png(figure)}"></figure>'
        for name, figure in result.figures.items()
    )
    items = ", ".join(study.items)
    title = (
        f'<h2 id="{escape(study.name)}">{escape(study.title)}</h2><p '
        f'class="source">{escape(study.source)} · {items}</p>'
    )
    head = "".join(f"<th>{name}</th>" for name in ("Cell", "Printed", "Ours", "Verdict", ""))
    rows = (
        f"<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(map(_row, result.rows))}</tbody></table>"
    )
    return (
        f'<section>{title}<p class="sentence">{escape(result.sentence)}</p>{pictures}<div '
        f'class="wide">{rows}</div>{_comparison_table(result.comparisons)}</section>'
    )


def _row(row: StudyRow) -> str:
    spread = (
        f"<small>{_number(shown(row.spread[0], 3))} … {_number(shown(row.spread[1], 3))}</small>"
        if row.spread and row.spread[0] != row.spread[1]
        else ""
    )
    badge = f'<span class="badge {KINDS[row.verdict]}">{row.verdict}</span>'
    why = (
        f"<b>{', '.join(row.errata)}</b> {_number(row.sentence)}"
        if row.errata
        else _number(row.sentence)
    )
    cells = (
        f"<td>{escape(row.cell)}</td><td class='number'>{_number(row.printed)}</td><td "
        f"class='number'>{_number(row.ours)}{spread}</td>"
    )
    return f"<tr>{cells}<td>{badge}</td><td class='why'>{why}</td></tr>"


def _number(text: str) -> str:
    """Escape a text, with non-breaking spaces inside its numbers."""
    return (
        escape(text)
        .replace(" · 10", "\u00a0·\u00a010")
        .replace(" × ", "\u00a0×\u00a0")
        .replace(" = ", "\u00a0=\u00a0")
    )


def _comparison_table(comparisons: Sequence[Comparison]) -> str:
    if not comparisons:
        return ""
    head = "".join(
        f"<th>{title}</th>"
        for title in ("The right way", "Measure", "Faithful", "Right", "Saves", "")
    )
    lines = "".join(
        f"<tr><td>{escape(b.what)}</td><td>{escape(b.measure)}</td><td "
        f"class='number'>{_number(shown(b.faithful))}</td>"
        f"<td class='number'>{_number(shown(b.right))}</td>"
        f"<td class='number'>{_number(saving(b))}</td><td class='why'>{escape(b.remark)}</td></tr>"
        for b in comparisons
    )
    return (
        f'<div class="wide"><table '
        f'class="right"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def saving(comparison: Comparison) -> str:
    """Describe the part of the error that the right way saves, or how many times it grows."""
    if comparison.saved >= 0.0005:
        return f"{100 * comparison.saved:.1f} %"
    return (
        "nothing"
        if comparison.right < 1.0005 * comparison.faithful
        else f"costs × {shown(comparison.right / comparison.faithful, 3)}"
    )


def _png(figure: Figure) -> str:
    memory = BytesIO()
    figure.savefig(memory, format="png", dpi=120, metadata={"Software": None})
    return base64.b64encode(memory.getvalue()).decode("ascii")


def _fields(study: Study, row: StudyRow) -> tuple[object, ...]:
    low, high = row.spread or ("", "")
    band_low, band_high = row.band or ("", "")
    value = "" if row.value is None else row.value
    return (
        study.name,
        study.source,
        row.cell,
        row.printed,
        row.ours,
        value,
        low,
        high,
        band_low,
        band_high,
        str(row.verdict),
        " ".join(row.errata),
        row.sentence,
    )


def _right_fields(study: Study, b: Comparison) -> tuple[object, ...]:
    return (study.name, study.source, b.what, b.measure, b.faithful, b.right, b.saved, b.remark)


def _csv(columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
    memory = StringIO()
    writer = csv.writer(memory, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return memory.getvalue()


def lines(done: Done) -> Iterator[str]:
    """Yield the overview as lines of text, for a terminal."""
    for study, result in done:
        counts = " · ".join(
            f"{result.count(verdict)} {verdict}" for verdict in Verdict if result.count(verdict)
        )
        yield f"{study.source:<52} {counts}"
