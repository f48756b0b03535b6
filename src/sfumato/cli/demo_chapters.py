"""The chapters of `sfumato demo`. Each runs the product on sample data and reports the results; no
number is written in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import mechanisms as mech
from .. import plots
from ..attacks.lib.attack_text import format_number
from ..errors import Refused
from ..guarantees import Guarantee, Pure
from ..guarantees.meaning.bayes import posterior_bounds
from ..samples import people, visits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..attacks.differencing import Differencing
    from ..session.protected_table import Table

BUDGET = Pure(1)
ASKED = Fraction(3, 10)
"""The ε of each question about the visits: three fit into the budget, the fourth does not."""
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(5))
KNOWN = ("sex", "born", "city")
RARE = "porphyria"
CITIES = ("Bari", "Milano", "Napoli", "Palermo", "Roma", "Torino")
QUESTION = "SELECT city, COUNT(*) AS n, AVG(spend) AS mean_spend FROM visits GROUP BY city"
MORE = (
    "SELECT COUNT(DISTINCT user_id) AS people FROM visits WHERE age < 30",
    "SELECT MEDIAN(age) AS median_age, AVG(spend) AS mean_spend FROM visits",
    "SELECT SUM(spend) AS total FROM visits",
)
GAMES, DRAWS = 2000, 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A chapter: sentences, terminal output and a picture."""

    title: str
    sentences: tuple[str, ...]
    shown: str = ""
    figure: Figure | None = None
    caption: str = ""


def chapters(table: Table, begin: Callable[[str], None]) -> Iterator[Chapter]:
    """Yield the chapters. `table` is the protected visits with nothing spent; `begin` is called
    with the name of each step.
    """
    begin("who is unique")
    yield _unique()
    begin("an attack with two questions")
    attack = _attack()
    yield _two_counts(attack)
    yield _two_private_counts(attack)
    begin("a question about visits")
    yield _answer(table)
    begin("planning at many ε")
    yield _bought(table)
    begin("asking until the budget ends")
    yield _spent(table)
    yield _meaning(BUDGET)
    begin(f"{format_number(DRAWS)} draws on each of two neighbours")
    yield _audit()


def _unique() -> Chapter:
    from ..attacks.uniqueness import uniqueness

    exposure = uniqueness(people(), KNOWN, sensitive="disease")
    first = (
        f"{format_number(people().num_rows)} invented people; the list has no names. It has sex, "
        f"date of birth, city, and a disease."
    )
    return Chapter(
        title="Who is unique",
        sentences=(first, *exposure.sentences[:1]),
        figure=exposure.plot(),
        caption="The share of people who are the only one of their kind, as one column after the "
        "other is known.",
    )


def _attack() -> Differencing:
    from ..attacks.differencing import differencing

    rows = people().select([*KNOWN, "disease"]).to_pylist()
    records = [tuple(row[name] for name in KNOWN) for row in rows]
    place = next(
        i for i, row in enumerate(rows) if row["disease"] == RARE and records.count(records[i]) == 1
    )
    person = dict(zip(KNOWN, records[place], strict=True))
    return differencing(people(), person, "disease", value=RARE, epsilons=EPSILONS, trials=GAMES)


def _two_counts(attack: Differencing) -> Chapter:
    exact = attack.successes[0]
    others = people().num_rows - int(attack.with_person)
    return Chapter(
        title="Two harmless counts",
        sentences=(
            (
                "An analyst who may ask for counts, but not for rows, asks twice: for everybody, "
                "and for everybody but one."
            ),
            attack.sentences[0],
            (
                f"Withholding small counts does not help: the number of people without the "
                f"disease, {format_number(others)}, with him and without him, says the same."
            ),
            (
                f"Tried {format_number(exact.trials)} times, the attack is right "
                f"{format_number(exact.hits)} times."
            ),
        ),
    )


def _two_private_counts(attack: Differencing) -> Chapter:
    private = len(attack.guesses)
    return Chapter(
        title="The same two counts, with noise",
        sentences=(
            *attack.sentences[1 : 1 + private],
            *(success.sentence for success in attack.successes[1:]),
        ),
        figure=attack.plot(),
        caption=(
            "How often the attacker is right, and the most that the promise allows any attacker."
        ),
    )


def _answer(table: Table) -> Chapter:
    answer = table.sql(QUESTION, epsilon=ASKED)
    return Chapter(
        title="An answer worth having",
        sentences=(
            (
                f"Privacy is not silence. {format_number(visits().num_rows)} visits of these "
                f"people to shops, asked for ε = {float(ASKED):g} of a budget of 1:"
            ),
            QUESTION,
        ),
        shown=str(answer),
        figure=answer.plot("n", title="Visits by city"),
        caption="With 95 % intervals: this may be published.",
    )


def _bought(table: Table) -> Chapter:
    epsilons = np.geomspace(0.05, 5, 9)
    errors = [table.plan(QUESTION, epsilon=f"{epsilon:.4g}").error() for epsilon in epsilons]
    counts = np.array([float(error["n"]) for error in errors])
    graph = plots.Graph(
        title="each city's count",
        x=epsilons,
        curves={"± at 95 %": counts},
        across="ε of the question",
        up="visits",
        logarithmic=True,
    )
    least, most = format_number(round(counts[-1])), format_number(round(counts[0]))
    sentence = (
        f"A count is exact to ± {most} visits for ε = 0.05, and to ± {least} for ε = 5. "
        f"Planning reads no data and costs nothing."
    )
    return Chapter(
        title="What ε buys",
        sentences=(sentence,),
        figure=plots.graphs([graph], title="More ε, less noise"),
        caption="Expected error against ε.",
    )


def _spent(table: Table) -> Chapter:
    from ..ledger import course

    lines: list[str] = []
    for text in MORE:
        try:
            answer = table.sql(text, epsilon=ASKED)
            lines += [text, *(f"    {line}" for line in _cells(answer)), f"    {_left(table)}"]
        except Refused as refusal:
            lines += [text, *(f"    {line}" for line in str(refusal).splitlines())]
    again = table.sql(MORE[0], epsilon=ASKED)
    lines += [
        f"{MORE[0]}   -- again",
        *(f"    {line}" for line in _cells(again)),
        f"    the stored answer, free: {_left(table)}",
    ]
    return Chapter(
        title="The budget runs down",
        sentences=(
            (
                "The ledger durably charges every answer before any data is read. A question "
                "that does not fit is refused; a repeated question gets its stored answer."
            ),
        ),
        shown="\n".join(lines),
        figure=plots.spending(course(table.ledger), title="The budget of visits"),
        caption="What was spent, charge by charge; the line is the budget.",
    )


def _cells(answer: object) -> list[str]:
    return [line for line in str(answer).splitlines()[:2] if line.strip()]


def _left(table: Table) -> str:
    return f"ε = {table.spent.epsilon():g} of {table.budget.epsilon():g} is spent"


def _meaning(budget: Guarantee) -> Chapter:
    priors = np.linspace(0.002, 0.998, 120)
    bounds = [posterior_bounds(budget.epsilon(), float(prior)) for prior in priors]
    bands = {
        f"ε = {budget.epsilon():g}": (
            np.array([bound.low for bound in bounds]),
            np.array([bound.high for bound in bounds]),
        )
    }
    return Chapter(
        title="What this means for you",
        sentences=budget.meaning(prior=Fraction(1, 10)).sentences()[:3],
        figure=plots.beliefs(
            priors, bands, title="All answers together, and what one may believe of you", mark=0.1
        ),
        caption="A belief stays inside its band, whatever the answers: the belief of somebody who "
        "knows all other people, or thinks that they say nothing about you.",
    )


def _audit() -> Chapter:
    from ..auditing import audit

    right = audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=DRAWS)
    weak = mech.Laplace(sensitivity=1, epsilon=2)

    def forgetful(count: int) -> object:
        """Add half of the noise that the claim needs."""
        return weak.perturb(count)

    wrong = audit(forgetful, 0, 1, claim=Pure(1), samples=DRAWS // 5)
    return Chapter(
        title="Do not take our word",
        sentences=(
            (
                "An audit draws from a mechanism on two neighbours, and proves a lower bound "
                "on its privacy loss."
            ),
            (
                f"Of the ε = 1 that ours claims, {right.share:.0%} is proven; its claim "
                f"{right.verdict if right.verdict == 'holds' else 'is refuted'}."
            ),
            f"A mechanism with half the noise that claims the same: {wrong.verdict}.",
        ),
        shown=f"{right}\n\n{wrong}",
        figure=right.plot(),
        caption="What is claimed, and what is proven.",
    )


def chapter_lines(chapter: Chapter) -> Sequence[str]:
    """Return the lines of a chapter for a terminal."""
    return (*chapter.sentences, *(("", chapter.shown) if chapter.shown else ()))
