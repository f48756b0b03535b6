"""The chapters of `sfumato demo`. Each runs the product on sample data, and tells what came out;
nothing in them is written down beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import mechanisms as mech
from .. import plots
from ..attacks.lib.attack_text import spaced
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
"""The ε of each question to the visits: three fit into the budget, and the fourth does not."""
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
    """What is told: sentences, text as a terminal shows it, and a picture."""

    title: str
    sentences: tuple[str, ...]
    shown: str = ""
    figure: Figure | None = None
    caption: str = ""


def chapters(table: Table, begin: Callable[[str], None]) -> Iterator[Chapter]:
    """The story, one chapter after the other; `table` is the visits, protected, with nothing spent.
    `begin` is told what is done next.
    """
    begin("who is unique")
    yield _unique()
    begin("an attack with two questions")
    found = _attack()
    yield _two_counts(found)
    yield _two_private_counts(found)
    begin("a question about visits")
    yield _answer(table)
    begin("planning at many ε")
    yield _bought(table)
    begin("asking until the budget ends")
    yield _spent(table)
    yield _meaning(BUDGET)
    begin(f"{spaced(DRAWS)} draws on each of two neighbours")
    yield _audit()


def _unique() -> Chapter:
    from ..attacks.uniqueness import uniqueness

    found = uniqueness(people(), KNOWN, sensitive="disease")
    first = (
        f"{spaced(people().num_rows)} invented people; the list has no names. It has sex, "
        f"date of birth, city, and a disease."
    )
    return Chapter(
        title="Who is unique",
        sentences=(first, *found.sentences[:1]),
        figure=found.plot(),
        caption="The share of people who are the only one of their kind, as one column after the "
        "other is known.",
    )


def _attack() -> Differencing:
    from ..attacks.differencing import differencing

    rows = people().select([*KNOWN, "disease"]).to_pylist()
    known = [tuple(row[name] for name in KNOWN) for row in rows]
    place = next(
        i for i, row in enumerate(rows) if row["disease"] == RARE and known.count(known[i]) == 1
    )
    person = dict(zip(KNOWN, known[place], strict=True))
    return differencing(people(), person, "disease", value=RARE, epsilons=EPSILONS, trials=GAMES)


def _two_counts(found: Differencing) -> Chapter:
    exact = found.successes[0]
    others = people().num_rows - int(found.with_person)
    return Chapter(
        title="Two harmless counts",
        sentences=(
            (
                "Whoever may ask for counts, but for no row, asks twice: for everybody, and "
                "for everybody but one."
            ),
            found.sentences[0],
            (
                f"Withholding small counts does not help: how many do not have it? "
                f"{spaced(others)}, with him and without, which says the same."
            ),
            f"Tried {spaced(exact.trials)} times, the attack is right {spaced(exact.hits)} times.",
        ),
    )


def _two_private_counts(found: Differencing) -> Chapter:
    private = len(found.guesses)
    return Chapter(
        title="The same two counts, with noise",
        sentences=(
            *found.sentences[1 : 1 + private],
            *(success.sentence for success in found.successes[1:]),
        ),
        figure=found.plot(),
        caption="How often the attacker is right, beside the most that the promise allows to anyone.",
    )


def _answer(table: Table) -> Chapter:
    answer = table.sql(QUESTION, epsilon=ASKED)
    return Chapter(
        title="An answer worth having",
        sentences=(
            (
                f"Privacy is not silence. {spaced(visits().num_rows)} visits of these people "
                f"to shops, asked for ε = {float(ASKED):g} of a budget of 1:"
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
    least, most = spaced(round(counts[-1])), spaced(round(counts[0]))
    told = (
        f"A count is exact to ± {most} visits for ε = 0.05, and to ± {least} for ε = 5. "
        f"Planning reads no data and costs nothing."
    )
    return Chapter(
        title="What ε buys",
        sentences=(told,),
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
        f"    the same answer, for nothing: {_left(table)}",
    ]
    return Chapter(
        title="The budget runs down",
        sentences=(
            (
                "Every answer is charged before any data is read, durably. What does not fit "
                "is refused; what was answered is answered again, the same."
            ),
        ),
        shown="\n".join(lines),
        figure=plots.spending(course(table.ledger), title="The budget of visits"),
        caption="What was spent, charge by charge; the line is the budget.",
    )


def _cells(answer: Any) -> list[str]:
    return [line for line in str(answer).splitlines()[:2] if line.strip()]


def _left(table: Table) -> str:
    return f"ε = {table.spent.epsilon():g} of {table.budget.epsilon():g} is spent"


def _meaning(budget: Guarantee) -> Chapter:
    priors = np.linspace(0.002, 0.998, 120)
    found = [posterior_bounds(budget.epsilon(), float(prior)) for prior in priors]
    bands = {
        f"ε = {budget.epsilon():g}": (
            np.array([one.low for one in found]),
            np.array([one.high for one in found]),
        )
    }
    return Chapter(
        title="What this means for you",
        sentences=budget.meaning(prior=Fraction(1, 10)).sentences()[:3],
        figure=plots.beliefs(
            priors, bands, title="All answers together, and what one may believe of you", mark=0.1
        ),
        caption="Inside its band a belief stays, whatever is answered: of whoever knows all the "
        "others, or thinks that they say nothing about you.",
    )


def _audit() -> Chapter:
    from ..auditing import audit

    right = audit(mech.Laplace(sensitivity=1, epsilon=1), 0, 1, samples=DRAWS)
    weak = mech.Laplace(sensitivity=1, epsilon=2)

    def forgetful(count: int) -> Any:
        """Half of the noise that is claimed."""
        return weak.perturb(count)

    wrong = audit(forgetful, 0, 1, claim=Pure(1), samples=DRAWS // 5)
    return Chapter(
        title="Do not take our word",
        sentences=(
            (
                "An audit draws from a mechanism on two neighbours, and proves a lower bound "
                "on what it gives away."
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


def told(chapter: Chapter) -> Sequence[str]:
    """The lines of a chapter, for a terminal."""
    return (*chapter.sentences, *(("", chapter.shown) if chapter.shown else ()))
