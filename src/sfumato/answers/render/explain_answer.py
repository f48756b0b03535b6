"""Explain an answer in full: question, cost, unit, every rule, and what the limits left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...exact.numbers import Number, probability
from ..left_out import learned_notes, left_out, unmeasured_notes
from . import footnote_texts as texts
from .footnotes import cost_notes, interval_note, is_cost
from .render_text import terminal_width, wrap
from .tabulate import level_text, printable

if TYPE_CHECKING:
    from ..answer import Answer

_LABEL = 8  # columns before the text of a line


def explain(answer: Answer, confidence: Number = 0.95, width: int | None = None) -> str:
    """Return a line for each fact, as the explanation of a plan does, wrapped to `width`."""
    level = probability(confidence, "confidence", zero=False)
    question, unit = answer.facts.get("question"), answer.facts.get("unit")
    facts = [("what", str(line)) for line in str(question or "").splitlines()]
    facts += [("cost", " · ".join(cost_notes(answer)).removeprefix("cost "))]
    facts += [("unit", f"{unit}, neighbours by {answer.facts.get('relation')}")] if unit else []
    facts += [("rule", rule) for rule in answer.rules if not is_cost(rule)]
    facts += [("done", label) for label in answer.processing]
    statements = left_out(answer, level)
    facts += [("limit", statement.text) for statement in statements]
    if len(statements) > 1:
        facts.append(("limit", texts.TOGETHER.format(level=level_text(level))))
    facts += [("limit", note) for note in (*learned_notes(answer), *unmeasured_notes(answer))]
    facts.append(("error", interval_note(answer, level)))
    width = (width or terminal_width()) - _LABEL
    lines, before = [], ""
    for label, text in facts:
        first, *others = wrap(printable(text), width)
        shown = "" if label == before == "what" else label
        lines.append(f"{shown:<{_LABEL}}{first}")
        lines += [f"{'':<{_LABEL}}{line}" for line in others]
        before = label
    return "\n".join(lines)
