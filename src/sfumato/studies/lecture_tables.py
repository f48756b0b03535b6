"""Tables and numbers of the lecture decks: the student survey and its re-identification, Steven's
salary, the p-percent rule, deniable answers, and the ε that others used.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from .. import mechanisms as mech
from ..attacks import survey, uniqueness
from ..attacks.differencing import differencing
from ..attacks.p_percent import p_percent
from ..guarantees.meaning.literature import LITERATURE
from .printed import Printed, shown
from .study import Study, StudyResult, StudyRow

AGES = {20: 1, 21: 6, 22: 4, 23: 4, 24: 1, 25: 2, 26: 1, 27: 4, 31: 1}
BY_SEX = {
    **{("f", age): n for age, n in ((20, 1), (21, 5), (22, 2), (24, 1), (25, 1), (27, 2), (31, 1))},
    **{("m", age): n for age, n in ((21, 1), (22, 2), (23, 4), (25, 1), (26, 1), (27, 2))},
}
ALONE = (
    ("0.1666667", ("age",)),
    ("0.2916667", ("sex", "age")),
    ("0.625", ("sex", "age", "start")),
    ("0.6666667", ("sex", "age", "start", "worst")),
    ("0.75", ("sex", "age", "start", "siblings", "worst")),
)
"""The shares of students who are alone with their values, and the columns."""


def survey_tables(_: int, __: int) -> StudyResult:
    """Count the survey by age, by sex and age, and who is alone."""
    table = survey()
    ages = Counter(map(int, table["age"]))
    pairs = Counter(zip(map(str, table["sex"]), map(int, table["age"]), strict=True))
    rows = [
        *(
            StudyRow.exact(f"students of age {age}", Printed(str(n)), ages[age])
            for age, n in AGES.items()
        ),
        *(
            StudyRow.exact(f"{sex}, age {age}", Printed(str(n)), pairs[sex, age])
            for (sex, age), n in BY_SEX.items()
        ),
        *(
            StudyRow.exact(f"alone by {', '.join(by)}", Printed(text), uniqueness(table, by).share)
            for text, by in ALONE
        ),
    ]
    sentence = (
        "Five columns that fellow students know leave three of four alone in the table. The six "
        "rows that the slides show contradict these counts (E-59)."
    )
    return StudyResult(rows=tuple(rows), sentence=sentence)


def lecture_numbers(_: int, __: int) -> StudyResult:
    """Recompute the numbers of the slides on attacks, deniability and the choice of ε."""
    people = np.full(100, 60_200)
    salaries = {
        "name": ["Steven", *(f"person {n}" for n in range(100))],
        "salary": [19_000, *people.tolist()],
    }
    steven = differencing(salaries, {"name": "Steven"}, epsilons=(), trials=1).difference
    rule = p_percent([100, 60, 5, 3, 2])
    coin, yes, share = mech.RandomizedResponse.coin_toss(), 0.43, 0.36
    truth, lie = (float(coin.probability(word, "yes")) for word in ("yes", "no"))
    expected = truth * share + lie * (1 - share)
    rows = (
        StudyRow.exact("6 039 000 − 6 020 000: Steven's salary", Printed("19000"), steven),
        StudyRow.exact("p-percent: remainder/largest", Printed("0.1"), rule.remainder_over_largest),
        StudyRow.exact("p-percent: the ratio of the slide", Printed("0.90909"), rule.slide_ratio),
        StudyRow.claim(
            "p = 2Y − ½",
            "Y = 0.43 gives 0.36",
            f"0.36 gives Y = {shown(expected)}",
            holds=abs(expected - yes) < 1e-12 and abs(2 * yes - 0.5 - share) < 1e-12,
        ),
        StudyRow.exact("studies in the table of ε", Printed("19"), len(LITERATURE)),
    )
    return StudyResult(
        rows=rows,
        sentence="Two sums that look harmless give one salary away, exactly.",
    )


STUDIES = (
    Study(
        name="survey-tables",
        title="A survey of 24 students",
        source="slides 2023, re-identification",
        items=("S-140", "S-141"),
        run=survey_tables,
    ),
    Study(
        name="lecture-numbers",
        title="Attacks, deniability and the choice of ε",
        source="slides 2025 and 2023",
        items=("S-041", "S-143", "S-145", "S-185"),
        run=lecture_numbers,
    ),
)
