"""The refusals of `attacks`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

# The table that the owner hands over

NOT_A_TABLE = RefusalText(
    "attacks.table",
    "{type}",
    (
        "a table is a pandas or Polars frame, an Arrow table, a DuckDB relation, an Ibis table, a "
        "path, a dictionary of columns or a list of rows"
    ),
    '{{"sex": ["f", "m"], "age": [20, 21]}}',
)
COLUMNS_OF_UNEQUAL_LENGTH = RefusalText(
    "attacks.table",
    "{{…}}",
    "the columns of a table are lists of equal length",
    '{{"sex": ["f", "m"], "age": [20, 21]}}',
)
ROWS_NOT_DICTIONARIES = RefusalText(
    "attacks.table",
    "{type}",
    "every row of a list is a dictionary from column names to values",
    '[{{"sex": "f", "age": 20}}]',
)
NOT_RATINGS = RefusalText(
    "attacks.table",
    "{type}",
    "the scoreboard reads ratings",
    'ratings_of(table, person="user", item="film", stars="stars", day="day")',
)
TOO_FEW_PEOPLE = RefusalText(
    "attacks.few",
    "{people} people",
    "the coins of at least {least} people are guessed",
    "give a table with more rows",
)
NO_COMMON_COLUMNS = RefusalText(
    "attacks.columns",
    "make(table)",
    "the function returns rows with columns of the table",
    "make=lambda table: table",
)
TABLE_WITHOUT_ROWS = RefusalText(
    "attacks.empty",
    "{table:.60}",
    "the table has no rows",
    "give a table with a row for each person",
)
LIST_WITHOUT_ROWS = RefusalText(
    "attacks.empty",
    "[]",
    "the table has no rows",
    '[{{"sex": "f", "age": 20}}]',
)
LINES_NOT_UTF8 = RefusalText(
    "attacks.lines",
    "{file!r:.60}",
    (
        "{unread} of {lines} lines could not be read: the file is not UTF-8, so its encoding is "
        "the likely cause (a spreadsheet often writes Latin-1)"
    ),
    "iconv -f LATIN1 -t UTF-8 {file!r:.60} > utf8.csv",
)
LINES_WITH_OTHER_FIELDS = RefusalText(
    "attacks.lines",
    "{file!r:.60}",
    (
        "{unread} of {lines} lines could not be read: they have more or fewer fields than the "
        "first line, quotes that do not fit, or a line break inside a field"
    ),
    "give every line as many fields as the first line",
)

# Columns of the table

UNKNOWN_COLUMN = RefusalText(
    "attacks.columns",
    "{name!r:.60}",
    "the table has no such column; it has {columns:.200}",
    "{nearest!r:.60}",
)
COLUMNS_NOT_NAMES = RefusalText(
    "attacks.columns",
    "columns={columns!r:.60}",
    "columns is a list of one or more names",
    'columns=["sex", "age"]',
)
COLUMN_NAMED_TWICE = RefusalText(
    "attacks.columns",
    "columns={columns!r:.60}",
    "a column is named twice",
    'columns=["sex", "age"]',
)
TABLE_COLUMNS_OF_SAME_NAME = RefusalText(
    "attacks.columns",
    "columns {columns:.60}",
    "two columns of the table have the same name",
    "frame.columns = ['sex', 'age']",
)
TABLE_COLUMN_NAMES_NOT_TEXT = RefusalText(
    "attacks.columns",
    "columns {columns:.60}",
    "names of columns are texts",
    "frame.columns = ['sex', 'age']",
)
TOO_MANY_COLUMNS = RefusalText(
    "attacks.columns",
    "{count} columns",
    "the search for identifying sets takes at most {most} columns",
    "columns={first!r:.200}",
)
NO_COMMON_COLUMN = RefusalText(
    "attacks.columns",
    "link(a, b)",
    "the tables have no column in common",
    'link(a, b.rename(columns={{"born": "birth"}}), on=["birth"])',
)
TOLERANCE_OF_UNMATCHED_COLUMN = RefusalText(
    "attacks.columns",
    "tolerance={{{column!r:.60}: …}}",
    "the tables are not matched by this column",
    "on=[{column!r:.60}]",
)
COLUMN_NOT_NUMERIC = RefusalText(
    "attacks.number",
    "{column!r:.60}",
    "this column holds neither numbers nor dates",
    "name a column of numbers, dates or instants",
)
TOO_FEW_UNIQUE_VALUES = RefusalText(
    "attacks.alone",
    "column={column!r:.60}",
    "fewer than two rows have a value of this column that no other row has",
    'column="name"',
)
SENSITIVE_COLUMN_KNOWN = RefusalText(
    "attacks.sensitive",
    "sensitive={column!r:.60}",
    "the sensitive column is one more column, which the adversary does not know",
    'sensitive="disease"',
)
SENSITIVE_COLUMN_CONSTANT = RefusalText(
    "attacks.sensitive",
    "sensitive column",
    "the sensitive column has one value only: there is nothing to guess",
    'sensitive="disease"',
)
TOO_MANY_GROUPS = RefusalText(
    "attacks.groups",
    "{sensitive!r:.60}",
    "groups × values give more than {most} counts",
    "uniqueness(table, {columns!r:.60}, sensitive={sensitive!r:.60})",
)
TOO_MANY_MATCHES = RefusalText(
    "attacks.matches",
    "link(a, b)",
    "more than {most} pairs of rows match: these columns tell nobody apart",
    'link(a, b, on=["birth", "zip", "sex"])',
)

# The person under attack and the secret

PERSON_NOT_A_ROW = RefusalText(
    "attacks.person",
    "person={person!r:.40}",
    "a person is the number of a row, or values of columns that fit one row",
    'person={{"name": "Steven"}}',
)
PERSON_NOT_ONE_ROW = RefusalText(
    "attacks.person",
    "person with {columns:.60}",
    "the values in person= must fit exactly one row of the table",
    'person={{"name": "Steven"}}',
)
PERSON_INCLUDES_SECRET = RefusalText(
    "attacks.person",
    "person with {columns:.60}",
    "person= includes the secret {secret!r:.60}, which the attacker does not know",
    'person={{"name": "Steven"}}',
)
TABLE_OF_ONE_PERSON = RefusalText(
    "attacks.person",
    "a table of one row",
    "the table needs two rows or more, because the attacker is one of them",
    'refusals({{"name": ["Steven", "me"], "has": [1, 0]}}, {{"name": "Steven"}})',
)
SECRET_NOT_A_COLUMN = RefusalText(
    "attacks.columns",
    "secret={secret!r:.60}",
    "the secret is a column of the table, and not part of person=",
    'secret="disease"',
)
SECRET_MISSING = RefusalText(
    "attacks.values",
    "{secret!r:.60}",
    "the person's number is missing, so no sum depends on it",
    'person={{"name": "Steven"}}',
)
SECRET_INFINITE = RefusalText(
    "attacks.values",
    "{secret!r:.60}",
    "a number of this column, or the sum of the column, is infinite",
    'secret="salary"',
)
VALUE_OF_OTHER_TYPE = RefusalText(
    "attacks.values",
    "{column}={value!r:.40}",
    "the column has type {type}, which no such value equals",
    "give a value of type {type}",
)
NO_TRACKER = RefusalText(
    "attacks.tracker",
    "minimum={minimum}",
    (
        "a tracker needs a value that at least {people} people have and at least {people} people "
        "do not have; no column has one"
    ),
    "minimum={smaller}",
)

# Values and bounds that the caller gives

LOWER_BOUND_NOT_BELOW_UPPER = RefusalText(
    "attacks.bounds",
    "bounds=({low:g}, {high:g})",
    "the lower bound must be below the upper bound",
    "bounds=(0, 100_000)",
)
BOUNDS_NOT_A_PAIR = RefusalText(
    "attacks.bounds",
    "bounds={bounds!r:.60}",
    "bounds are two numbers, the lower and the upper bound",
    "bounds=(0, 100_000)",
)
VALUES_NOT_NUMBERS = RefusalText(
    "attacks.values",
    "values of type {type}",
    "values are numbers",
    "p_percent([100, 60, 5, 3, 2])",
)
VALUES_NEGATIVE_OR_MISSING = RefusalText(
    "attacks.values",
    "values",
    "values are a list of one or more numbers, zero or more, none missing",
    "p_percent([100, 60, 5, 3, 2])",
)
VALUES_ALL_ZERO = RefusalText(
    "attacks.values",
    "values",
    "all values are zero: there is no largest",
    "p_percent([100, 60, 5, 3, 2])",
)
TOTAL_TOO_LARGE = RefusalText(
    "attacks.values",
    "values",
    "the total of the values is too large for a double",
    "p_percent([100, 60, 5, 3, 2])",
)
SECRET_NOT_BITS = RefusalText(
    "attacks.values",
    "secret",
    "the secret is a list of two or more bits, one for each person",
    "secret=[0, 1, 1, 0]",
)
GROUPS_NOT_A_MATRIX = RefusalText(
    "attacks.counts",
    "reconstruct(answers, groups)",
    (
        "groups is a matrix of 0 and 1 with one row per count and one column per person, and "
        "counts are finite"
    ),
    "reconstruct([1, 2], [[1, 0, 1], [0, 1, 1]])",
)
GENOMES_NOT_BITS = RefusalText(
    "attacks.values",
    "people",
    "people are four or more rows of zeros and ones",
    "genomes(people=2000, positions=10_000)",
)
OUTSIDERS_ALL_ALIKE = RefusalText(
    "attacks.values",
    "people",
    "all people outside the pool have the same score",
    "genomes(people=2000, positions=10_000)",
)
HEIGHTS_OUT_OF_RANGE = RefusalText(
    "attacks.values",
    "heights",
    "heights are a list of numbers between 0 and {most:g}",
    "heights=[64.5, 66.0, 63.2]",
)
OFFSET_OUT_OF_RANGE = RefusalText(
    "attacks.values",
    "offset={offset}",
    "her height must also lie between 0 and {most:g}: the noise is calibrated for it",
    "offset=-2, most=100",
)
ANSWER_OR_NOISE_NOT_WHOLE = RefusalText(
    "attacks.values",
    "answer={answer!r:.40}",
    "the answer is a whole number, and noise maps whole numbers to probabilities",
    "noise={{0: 0.25, 1: 0.15, -1: 0.15}}, answer=1",
)
NOISE_ABOVE_ONE = RefusalText(
    "attacks.values",
    "noise with a total of {total:g}",
    "the probabilities of the noise sum to at most 1",
    "noise={{0: 0.25, 1: 0.15, -1: 0.15}}",
)
ANSWER_IMPOSSIBLE = RefusalText(
    "attacks.values",
    "answer={answer}",
    "with this noise the answer has probability 0",
    "noise={{0: 0.25, 1: 0.15, -1: 0.15}}, answer=1",
)

# How an attack is run

COUNT_TOO_SMALL = RefusalText(
    "attacks.trials",
    "{name}={value}",
    "{name} is a whole number, {least} or more",
    "{name}={example}",
)
NOT_A_LIST_OF_NUMBERS = RefusalText(
    "attacks.trials",
    "{name}={value!r:.60}",
    "{name} is a list of one or more numbers",
    "{name}={example}",
)
EPSILONS_NOT_A_LIST = RefusalText(
    "attacks.epsilons",
    "epsilons={epsilons}",
    "epsilons is a list of numbers: the values of ε to attack",
    "epsilons=(0.1, 1, 5)",
)
TOO_MANY_HITS = RefusalText(
    "attacks.trials",
    "hits={hits}, trials={trials}",
    "trials is 1 or more, and hits lies between 0 and trials",
    "hits=500, trials=1000",
)
FEWER_THAN_TWO_CHOICES = RefusalText(
    "attacks.choices",
    "choices={choices}",
    "a guess is between two or more values",
    "choices=2",
)
TOO_MANY_ANSWERS = RefusalText(
    "attacks.budget",
    "budget={budget}, epsilon={epsilon}",
    "budget/epsilon is the number of answers, and lies between 1 and {most}",
    "budget=1, epsilon=0.1",
)
TOO_FEW_ANSWERS = RefusalText(
    "attacks.trials",
    "answers={answers}",
    "there must be more answers than the {people} people",
    "answers={enough}",
)
POOL_OR_REST_TOO_SMALL = RefusalText(
    "attacks.trials",
    "pool={pool} of {people}",
    "the pool needs 2 or more people, and {outside} or more must be outside",
    "pool={half}",
)
TOO_FEW_RATERS = RefusalText(
    "attacks.trials",
    "ratings of fewer than two people",
    "the attack needs ratings of two or more people",
    "ratings(people=1000)",
)
UNKNOWN_SCORE = RefusalText(
    "attacks.variant",
    "score={score}",
    "a score is one of {scores}",
    'score="likelihood"',
)
UNKNOWN_VARIANT = RefusalText(
    "attacks.variant",
    "variant={variant}",
    'variant is "standard" or "slide"',
    'variant="standard"',
)
SLIDE_THRESHOLD_TOO_LARGE = RefusalText(
    "attacks.variant",
    'variant="slide", p={p}',
    "the slide's p is below 100",
    'variant="slide", p=90',
)
UNKNOWN_METHOD = RefusalText(
    "attacks.variant",
    "method={method!r:.40}",
    "the method is {methods}",
    'method="linear programming"',
)
REPORT_NOT_WRITABLE = RefusalText(
    "attacks.out",
    "{file:.60}",
    "the report cannot be written there",
    "risk.html",
)
