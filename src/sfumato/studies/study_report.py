"""Write the report of the studies: one self-contained HTML page, and the same numbers as CSV.

*Page*      An overview, then every study: picture, sentence, a table of printed and our numbers,
            and a comparison with the right way. No script, nothing fetched.
*CSV*       `csv/<study>.csv`, `csv/<study>-right-way.csv`, and `csv/all.csv`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from ..templates.fill_template import encode_png, fill_template
from . import study_refusals as refusals
from .printed import shown
from .study import Comparison, Study, StudyResult, StudyRow, Verdict

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
    "percentile",
    "in_sources",
    "verdict",
    "errata",
    "sentence",
)
RIGHT = ("study", "source", "what", "measure", "faithful", "right", "saved", "remark")
KINDS = {
    Verdict.AGREES: "agrees",
    Verdict.UNLIKELY: "unlikely",
    Verdict.MISPRINT: "misprint",
    Verdict.UNSAFE: "unsafe",
    Verdict.DIFFERS: "differs",
}
"""The CSS class of each verdict's badge."""


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
    return fill_template(
        "studies.html",
        done=done,
        repetitions=repetitions,
        seed=seed,
        counts={verdict: sum(result.count(verdict) for _, result in done) for verdict in Verdict},
        kinds=KINDS,
        differs=Verdict.DIFFERS,
        printed=sum(result.printed for _, result in done),
        rows=sum(len(result.rows) for _, result in done),
        errata_of=_errata_of,
        number=_number,
        shown=shown,
        saving=saving,
        png=lambda figure: encode_png(figure, dpi=120),
    )


def _errata_of(result: StudyResult) -> str:
    return ", ".join(sorted({erratum for row in result.rows for erratum in row.errata}))


def _number(text: str) -> str:
    """Put non-breaking spaces inside the numbers of a text."""
    return (
        text.replace(" · 10", "\u00a0·\u00a010")
        .replace(" × ", "\u00a0×\u00a0")
        .replace(" = ", "\u00a0=\u00a0")
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
        "" if row.percentile is None else f"{row.percentile:.4f}",
        "printed" if row.is_printed else "computed",
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
