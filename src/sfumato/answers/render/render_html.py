"""Render an answer as HTML for notebooks: the tables and footnotes of the printed text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exact.numbers import Number
from ...templates.fill_template import fill_template
from ..chosen_groups import mark_shown_groups
from . import footnote_texts as texts
from .footnotes import build_notes
from .tabulate import build_tables, printable

if TYPE_CHECKING:
    from ..answer import Answer


def render(answer: Answer, confidence: Number = 0.95, most: int = 200) -> str:
    """Render the tables and the footnotes, with at most `most` rows."""
    answer = mark_shown_groups(answer, most)
    return fill_template(
        "answer.html",
        tables=build_tables(answer, confidence, most),
        notes=build_notes(answer, confidence),
        no_group=texts.NO_GROUP,
        rules=[printable(rule) for rule in answer.rules],
        all_rules=texts.RULES_BELOW,
    )
