"""The refusals of `attacks`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

ATTACKS_ALONE_1 = RefusalText(
    "attacks.alone",
    "column={column!r:.60}",
    "fewer than two rows have a unique value of this column",
    'column="name"',
)
ATTACKS_BOUNDS_1 = RefusalText(
    "attacks.bounds",
    "bounds=({low:g}, {high:g})",
    "the lower bound must be below the upper bound",
    "bounds=(0, 100_000)",
)
ATTACKS_BOUNDS_2 = RefusalText(
    "attacks.bounds",
    "bounds={bounds!r:.60}",
    "bounds are two numbers, the lower and the upper bound",
    "bounds=(0, 100_000)",
)
ATTACKS_BUDGET_1 = RefusalText(
    "attacks.budget",
    "budget={format_number}, epsilon={format_number_2}",
    "budget/epsilon, the number of answers, lies between 1 and {MOST}",
    "budget=1, epsilon=0.1",
)
ATTACKS_CHOICES_1 = RefusalText(
    "attacks.choices",
    "choices={choices}",
    "a guess is between two or more values",
    "choices=2",
)
ATTACKS_COLUMNS_1 = RefusalText(
    "attacks.columns",
    "tolerance={{{name!r:.60}: …}}",
    "the tables are not matched by this column",
    "on=[{name!r:.60}]",
)
ATTACKS_COLUMNS_2 = RefusalText(
    "attacks.columns",
    "columns={names!r:.60}",
    "columns are a list of one or more names",
    'columns=["sex", "age"]',
)
ATTACKS_COLUMNS_3 = RefusalText(
    "attacks.columns",
    "columns={names!r:.60}",
    "a column is named twice",
    'columns=["sex", "age"]',
)
ATTACKS_COLUMNS_4 = RefusalText(
    "attacks.columns",
    "columns {have:.60}",
    "two columns of the table have the same name",
    "columns with different names",
)
ATTACKS_COLUMNS_5 = RefusalText(
    "attacks.columns",
    "columns {have:.60}",
    "names of columns are texts",
    "frame.columns = ['sex', 'age']",
)
ATTACKS_COLUMNS_6 = RefusalText(
    "attacks.columns",
    "{name!r:.60}",
    "the table has no such column; it has {have:.200}",
    "{name_2!r:.60}",
)
ATTACKS_COLUMNS_7 = RefusalText(
    "attacks.columns",
    "secret={secret!r:.60}",
    "the secret is a column of the table, and not part of person=",
    'secret="disease"',
)
ATTACKS_COLUMNS_8 = RefusalText(
    "attacks.columns",
    "{name!r:.60}",
    "the table has no such column",
    "{name_2!r:.60}",
)
ATTACKS_COLUMNS_9 = RefusalText(
    "attacks.columns",
    "link(a, b)",
    "the tables have no column in common",
    'link(a, b, on=["birth", "zip"])',
)
ATTACKS_COLUMNS_10 = RefusalText(
    "attacks.columns",
    "{columns_count} columns",
    "the search for identifying sets takes at most {LARGEST} columns",
    "columns={columns!r:.200}",
)
ATTACKS_COUNTS_1 = RefusalText(
    "attacks.counts",
    "reconstruct(answers, groups)",
    (
        "groups is a matrix of 0 and 1 with one row per count and one column per person, and "
        "counts are finite"
    ),
    "reconstruct([1, 2], [[1, 0, 1], [0, 1, 1]])",
)
ATTACKS_EMPTY_1 = RefusalText(
    "attacks.empty",
    "{name:.60}",
    "the table has no rows",
    "a table of one row for each person",
)
ATTACKS_EMPTY_2 = RefusalText(
    "attacks.empty",
    "[]",
    "the table has no rows",
    '[{{"sex": "f", "age": 20}}]',
)
ATTACKS_EPSILONS_1 = RefusalText(
    "attacks.epsilons",
    "epsilons={epsilons}",
    "the ε to attack are a list of numbers",
    "epsilons=(0.1, 1, 5)",
)
ATTACKS_GROUPS_1 = RefusalText(
    "attacks.groups",
    "{sensitive!r:.60}",
    "groups × values give more than {MOST} counts",
    "uniqueness(table, {names!r:.60}, sensitive={sensitive!r:.60})",
)
ATTACKS_LINES_1 = RefusalText(
    "attacks.lines",
    "{name!r:.60}",
    "{reason}",
    "{rewrite}",
)
ATTACKS_MATCHES_1 = RefusalText(
    "attacks.matches",
    "link(a, b)",
    "more than {MOST} pairs of rows match: these columns tell nobody apart",
    "more columns, or smaller tolerances",
)
ATTACKS_NUMBER_1 = RefusalText(
    "attacks.number",
    "{name!r:.60}",
    "this column holds neither numbers nor dates",
    "a column of numbers, dates or instants",
)
ATTACKS_OUT_1 = RefusalText(
    "attacks.out",
    "{name!s:.60}",
    "the report cannot be written there",
    "risk.html",
)
ATTACKS_PERSON_1 = RefusalText(
    "attacks.person",
    "person={person!r:.40}",
    "a person is the number of a row, or values of columns that fit one row",
    "{PERSON}",
)
ATTACKS_PERSON_2 = RefusalText(
    "attacks.person",
    "person with {value!s:.60}",
    "the values in person= must fit exactly one row of the table, and must not include the secret",
    "{PERSON}",
)
ATTACKS_PERSON_3 = RefusalText(
    "attacks.person",
    "a table of one row",
    "the table needs two rows or more, because the attacker is one of them",
    'refusals({{"name": ["Steven", "me"], "has": [1, 0]}}, {{"name": "Steven"}})',
)
ATTACKS_SENSITIVE_1 = RefusalText(
    "attacks.sensitive",
    "sensitive column",
    "the sensitive column has one value only: there is nothing to guess",
    'sensitive="disease"',
)
ATTACKS_SENSITIVE_2 = RefusalText(
    "attacks.sensitive",
    "sensitive={name!r:.60}",
    "the sensitive column is one more column, which the adversary does not know",
    'sensitive="disease"',
)
ATTACKS_TABLE_1 = RefusalText(
    "attacks.table",
    "{type}",
    "a table is {TABLE_KINDS}",
    "{REWRITE}",
)
ATTACKS_TABLE_2 = RefusalText(
    "attacks.table",
    "{{…}}",
    "the columns of a table are lists of equal length",
    '{{"sex": ["f", "m"], "age": [20, 21]}}',
)
ATTACKS_TABLE_3 = RefusalText(
    "attacks.table",
    "{type}",
    "a table is {TABLE_KINDS}",
    '[{{"sex": "f", "age": 20}}]',
)
ATTACKS_TABLE_4 = RefusalText(
    "attacks.table",
    "{type}",
    "the scoreboard reads ratings",
    'ratings_of(table, person="user", item="film", stars="stars", day="day")',
)
ATTACKS_TRACKER_1 = RefusalText(
    "attacks.tracker",
    "minimum={minimum}",
    (
        "a tracker needs a value that at least {value} people have and at least {value} people "
        "do not have; no column has one"
    ),
    "minimum={max}",
)
ATTACKS_TRIALS_1 = RefusalText(
    "attacks.trials",
    "{name}={value}",
    "{name} is a whole number, {least} or more",
    "{name}={least_2}",
)
ATTACKS_TRIALS_2 = RefusalText(
    "attacks.trials",
    "hits={hits}, trials={trials}",
    "an attack succeeds in some of its one or more trials",
    "trials=1000",
)
ATTACKS_TRIALS_3 = RefusalText(
    "attacks.trials",
    "pool={size} of {people}",
    "the pool needs two or more people, and two or three must be outside",
    "pool={value}",
)
ATTACKS_TRIALS_4 = RefusalText(
    "attacks.trials",
    "answers={m}",
    "there must be more answers than the {n} people",
    "answers={value}",
)
ATTACKS_TRIALS_5 = RefusalText(
    "attacks.trials",
    "ratings of fewer than two people",
    "the attack needs ratings of two or more people",
    "ratings(people=1000)",
)
ATTACKS_TRIALS_6 = RefusalText(
    "attacks.trials",
    "known_ratings={known_ratings!r:.60}",
    "known_ratings is a list of one or more whole numbers",
    "known_ratings=(1, 2, 4, 8)",
)
ATTACKS_TRIALS_7 = RefusalText(
    "attacks.trials",
    "{name}={values!r:.60}",
    "{name} is a list of one or more numbers",
    "{rewrite}",
)
ATTACKS_VALUES_1 = RefusalText(
    "attacks.values",
    "people",
    "people are four or more rows of zeros and ones",
    "genomes(people=2000, positions=10_000)",
)
ATTACKS_VALUES_2 = RefusalText(
    "attacks.values",
    "{secret!r:.60}",
    "the person's number is missing, so no sum depends on it",
    'person={{"name": "Steven"}}',
)
ATTACKS_VALUES_3 = RefusalText(
    "attacks.values",
    "{secret!r:.60}",
    "a number of this column, or the sum of the column, is infinite",
    'secret="salary"',
)
ATTACKS_VALUES_4 = RefusalText(
    "attacks.values",
    "{name}={value!r:.40}",
    "the column has type {type}, which no such value equals",
    "a value of the column's type",
)
ATTACKS_VALUES_5 = RefusalText(
    "attacks.values",
    "people",
    "all people outside the pool have the same score",
    "genomes(people=2000, positions=10_000)",
)
ATTACKS_VALUES_6 = RefusalText(
    "attacks.values",
    "values",
    "values are a list of one or more numbers, zero or more, none missing",
    "p_percent([100, 60, 5, 3, 2])",
)
ATTACKS_VALUES_7 = RefusalText(
    "attacks.values",
    "values",
    "all values are zero: there is no largest",
    "p_percent([100, 60, 5, 3, 2])",
)
ATTACKS_VALUES_8 = RefusalText(
    "attacks.values",
    "values",
    "the total of the values is too large for a double",
    "p_percent([100, 60, 5, 3, 2])",
)
ATTACKS_VALUES_9 = RefusalText(
    "attacks.values",
    "values of type {type}",
    "values are numbers",
    "p_percent([100, 60, 5, 3, 2])",
)
ATTACKS_VALUES_10 = RefusalText(
    "attacks.values",
    "secret",
    "the secret is a list of two or more bits, one for each person",
    "secret=[0, 1, 1, 0]",
)
ATTACKS_VALUES_11 = RefusalText(
    "attacks.values",
    "heights",
    "heights are a list of numbers between 0 and {top:g}",
    "heights=[64.5, 66.0, 63.2]",
)
ATTACKS_VALUES_12 = RefusalText(
    "attacks.values",
    "offset={exact_text}",
    "her height must lie between 0 and {top:g}, too: the noise is calibrated for it",
    "offset=-2, most=100",
)
ATTACKS_VALUES_13 = RefusalText(
    "attacks.values",
    "answer={answer!r:.40}",
    "{reason}",
    "noise={{0: 0.25, 1: 0.15, -1: 0.15}}, answer=1",
)
ATTACKS_VALUES_14 = RefusalText(
    "attacks.values",
    "answer={answer}",
    "{reason}",
    "noise={{0: 0.25, 1: 0.15, -1: 0.15}}, answer=1",
)
ATTACKS_VARIANT_1 = RefusalText(
    "attacks.variant",
    "score={score}",
    "a score is one of {SCORES}",
    'score="likelihood"',
)
ATTACKS_VARIANT_2 = RefusalText(
    "attacks.variant",
    "variant={variant}, p={p}",
    'variant is "standard" or "slide", and the slide\'s p is below 100',
    'variant="standard", p=10',
)
ATTACKS_VARIANT_3 = RefusalText(
    "attacks.variant",
    "method={method!r:.40}",
    "the method is {METHODS}",
    "method={METHODS_2!r}",
)
