"""The risk report as one HTML page in plain words: no script, nothing to fetch, and all text from
the data is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ... import __version__
from ...exact.numbers import text as number
from ...guarantees.meaning.bayes import posterior_bounds
from ..lib.attack_text import at_most, epsilon_label, format_number, join_names, per_cent
from .risk import MANY, UNNAMED
from .risk_html import (
    document,
    format_answer,
    keep_digits_together,
    paragraph,
    picture,
    round_up,
    section,
    successes,
    table,
    tile,
)

if TYPE_CHECKING:
    from .risk import EpsilonEffect, RiskReport

WARNING = """<p class="warning">
<strong>This report is about the raw data, and is not private itself.</strong>
It names nobody and shows no row, but its numbers are exact.
It is for the people who are responsible for the data: do not publish it.</p>"""

ADVICE = """<p>Do not publish exact counts, sums or tables of small groups. Do not rely on leaving
names out, on withholding small groups, or on refusing revealing questions: all of these are known
to fail. Publish answers with noise that keeps a promise, and keep one budget for everything that is
ever published:</p>
<p><code>table = sf.protect("data.parquet", unit="person_id", budget=1)</code></p>
<p>A smaller ε protects more, and makes answers less exact. An ε of 1 or less for everything
together is a strong promise. Above 5 it promises little to any one person.</p>"""

_READ = 10**6  # larger odds are not written out

CAPTIONS = {
    "alone": (
        "The share of people who are the only one of their kind, as the attacker knows more "
        "columns."
    ),
    "noise": (
        "Invented secrets. Noise far below the square root of the number of people hides "
        "nothing: a little noise is not privacy."
    ),
    "belief": (
        "A belief stays inside its band, whatever the answer, for an attacker who knows "
        "everybody else's data, or thinks that these data say nothing of the person."
    ),
}


def page(report: RiskReport) -> str:
    """Build the page of a report."""
    title = escape(
        f"How exposed are the people in "
        f"{report.name if report.name == UNNAMED else f'“{report.name}”'}?"
    )
    alone = report.uniqueness
    about = f"{format_number(alone.n)} rows, one per person, by {_names(alone.columns)}"
    about += f"; the secret is {escape(report.sensitive)}." if report.sensitive else "."
    parts = (
        part(report)
        for part in (
            _recognition_section,
            _groups_section,
            _questions_section,
            _reconstruction_section,
            _epsilon_section,
        )
    )
    drawn = {
        "presence": "a coin for whether the person is in the table",
        "value": f"one of {alone.choices} values drawn for the secret",
    }
    drawn |= {
        "count": "a coin for the secret",
        "sum": "a number drawn from the range for the secret",
    }
    games = (
        f"How often an attacker is right was measured in "
        f"{format_number(report.successes[0].trials)} games each, with {drawn[report.game]}."
    )
    paragraphs = "".join(
        paragraph(escape(note))
        for note in ([alone.unread.sentence] if alone.unread else []) + list(report.notes)
    )
    notes = f'<div class="warning">{paragraphs}</div>' if paragraphs else ""
    foot = f"<footer>{paragraph(f'Made by sfumato {__version__}.', games)}</footer>"
    head = f'<h1>{title}</h1><p class="about">{about}</p>{WARNING}{notes}{_tiles(report)}'
    body = f"{head}{''.join(parts)}{section('What to do', ADVICE)}{foot}"
    return document(title, keep_digits_together(body))


def _tiles(report: RiskReport) -> str:
    alone, (exact, *private) = report.uniqueness, report.successes
    shown = [tile(per_cent(alone.share), "of the people are the only one of their kind")]
    if alone.smallest:
        few = len(alone.smallest[0])
        verb = "facts single" if few > 1 else "fact singles"
        shown.append(
            tile(str(few), f"known {verb} out {per_cent(alone.target_share)} of the people or more")
        )
    else:
        shown.append(
            tile(
                format_number(alone.k),
                f"{'person is' if alone.k == 1 else 'people are'} in the smallest group",
            )
        )
    shown.append(tile(per_cent(exact.rate), "of attacks on exact answers succeed"))
    if private:
        success = next(
            (success for success in private if success.against == epsilon_label(1)), private[0]
        )
        caption = (
            f"of attacks on answers with {escape(success.against)} succeed; guessing gives "
            f"{per_cent(success.chance)}"
        )
        shown.append(tile(per_cent(success.rate), caption, is_private=True))
    return f'<div class="tiles">{"".join(shown)}</div>'


def _recognition_section(report: RiskReport) -> str:
    alone = report.uniqueness
    recognised = paragraph(
        f"An attacker who knows {_names(alone.columns)} of a person can look for rows that fit.",
        (
            f"For {format_number(alone.alone)} of {format_number(alone.n)} people "
            f"({per_cent(alone.share)}) exactly one row fits: theirs. Leaving out names does "
            f"not help them."
        ),
    )
    sets = "; ".join(_names(chosen) for chosen in alone.smallest[:5]) + (
        f"; and {len(alone.smallest) - 5} more sets" if len(alone.smallest) > 5 else ""
    )
    target = per_cent(alone.target_share)
    enough = f"To single out {target} of the people, it is enough to know: {sets}."
    none = f"All of these together do not single out {target} of the people."
    rows = [
        ("one: they are alone" if k == 2 else f"fewer than {k}", per_cent(share))
        for k, share in alone.profile.items()
    ]
    groups = table(("people in a group of", "share of all people"), rows)
    return section(
        "Who can be recognised?",
        recognised,
        paragraph(enough if alone.smallest else none),
        picture(alone.plot(), CAPTIONS["alone"]),
        groups,
    )


def _groups_section(report: RiskReport) -> str:
    diversity = report.uniqueness.diversity
    if diversity is None:
        return ""
    hidden = (
        "Being one of several hides which row is whose. It does not hide what all of them have "
        "in common."
    )
    return section(
        "Does it help to be one of several?",
        *(paragraph(escape(sentence)) for sentence in diversity.sentences),
        paragraph(hidden),
    )


def _questions_section(report: RiskReport) -> str:
    difference = report.difference
    if difference is None:
        return section(
            "One harmless question",
            *map(paragraph, _one_question(report)),
            successes(report.successes),
        )
    take = "Take one of the people who are the only one of their kind. Nobody asks for them alone: "
    about = report.uniqueness.n - 1 if difference.summed else difference.without
    take += (
        "both questions are about many."
        if about >= MANY
        else "the one question is about everybody, the other about everybody else."
    )
    rows = [
        (epsilon_label(g.epsilon), *(format_answer(x) for x in (*g.answers, g.value)))
        for g in difference.guesses
    ]
    exact = (
        "exact answers",
        format_answer(difference.with_person),
        format_answer(difference.without),
        format_answer(difference.difference),
    )
    answers = table(
        ("answers", "everybody", "without this person", "difference"), [exact, *rows], exact=1
    )
    once = paragraph(
        "The same two questions, asked once of a protected table. Each answer has noise "
        "of its own, and so has the difference:"
    )
    what = (
        "about the tenth of the range that the number lies in"
        if difference.summed
        else "about the secret"
    )
    often = (
        f"How often an attacker who goes by the difference is right {what}, in many such attempts."
    )
    rates = paragraph(
        often,
        (
            'What the promise allows at most<span class="mark">, the green mark,</span> it '
            "allows to this attack and to every other:"
        ),
    )
    result = paragraph(f"<strong>{escape(difference.sentences[0])}</strong>")
    return section(
        "Two harmless questions",
        paragraph(take),
        result,
        once,
        answers,
        rates,
        successes(report.successes),
    )


def _one_question(report: RiskReport) -> tuple[str, str]:
    """Return the question, and the secret that it aims at."""
    if report.game == "presence":
        question = (
            "The attacker knows how many people of a kind there are beside somebody, and "
            "asks how many there are. One more, and the person is in the table."
        )
        return question, "Is the person in the table?"
    question = (
        "The attacker knows what everybody else of a person's kind has, and asks how many of "
        "that kind have each value. The one with one more is the person's."
    )
    choices, values = (
        report.uniqueness.choices,
        report.uniqueness.diversity.values if report.uniqueness.diversity else 0,
    )
    which = f"its {choices} values" if choices == values else f"{choices} of its {values} values"
    return (
        question,
        f"The secret is {escape(report.sensitive or '')}: which of {which} does this person have?",
    )


def _reconstruction_section(report: RiskReport) -> str:
    parts = [
        paragraph(
            "Every count is an equation about people. With enough of them a computer "
            "solves for everybody at once, however harmless each looks."
        )
    ]
    if (column := report.column) is not None:
        groups = (
            f"For {column.people} of these people, {column.answers} counts of random groups "
            f"were solved for “{escape(column.what)}”."
        )
        parts.append(
            paragraph(
                groups,
                (
                    f"Always saying what is more common is right for {column.commoner} of "
                    f"{column.people}."
                ),
            )
        )
        rows = [
            ("exact", f"{column.exact} of {column.people}"),
            *(
                (f"{epsilon_label(e)} for all of them", f"{right} of {column.people}, on average")
                for e, right in column.private
            ),
        ]
        parts.append(table(("counts", "secrets that come out right"), rows, exact=1))
    return section(
        "Many harmless questions", *parts, picture(report.threshold.plot(), CAPTIONS["noise"])
    )


def _epsilon_section(report: RiskReport) -> str:
    meaning = paragraph(
        (
            "The number ε says how much answers may depend on any one person. Here is what "
            "it means for a single count, and for somebody who thought it as likely"
        ),
        (
            "as not that a person has a secret. If he knows everybody else's data, or thinks "
            "that they say nothing about the person, no answer takes his belief"
        ),
        "beyond the last column.",
    )
    rows = [
        (number(b.epsilon), f"± {format_number(b.error)}", f"× {_odds(b)}", at_most(b.belief))
        for b in report.epsilon_effects
    ]
    heads = ("ε", "a count is right to (95 %)", "odds change by at most", "50 % can become")
    return section(
        "What does ε buy?",
        meaning,
        table(heads, [("none", "± 0", "anything", "100 %"), *rows], exact=1),
        _beliefs(report),
    )


def _odds(bought: EpsilonEffect) -> str:
    """Format odds as a number, or as a power of e where the number is too long."""
    return round_up(bought.odds) if bought.odds < _READ else f"e<sup>{number(bought.epsilon)}</sup>"


def _beliefs(report: RiskReport) -> str:
    from ...plots.beliefs import beliefs

    priors = np.linspace(0.01, 0.99, 99)
    bands = {}
    for epsilon in [b.epsilon for b in report.epsilon_effects if b.epsilon <= 5][:5]:
        ends = [posterior_bounds(epsilon, float(prior)) for prior in priors]
        bands[epsilon_label(epsilon)] = (
            np.array([end.low for end in ends]),
            np.array([end.high for end in ends]),
        )
    return (
        picture(
            beliefs(priors, bands, title="What one answer can do to a belief"), CAPTIONS["belief"]
        )
        if bands
        else ""
    )


def _names(names: Sequence[str]) -> str:
    return join_names([escape(name) for name in names])
