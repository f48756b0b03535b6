"""The refusals of `answers`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText, install_command

# Reading an answer

UNKNOWN_TABLE = RefusalText(
    "answer.table",
    "grouped by {keys}",
    "the answer has the tables by {groupings}",
    "{example}",
)
NOT_ALL_KEYS = RefusalText(
    "answer.table",
    "consistent()",
    "non-negative tables are sums of the table by all keys ({keys}), with all of its groups",
    "answer.consistent() of a CUBE or ROLLUP, before HAVING, ORDER BY and LIMIT",
)
STACKED_TABLES = RefusalText(
    "answer.table",
    "{method}",
    "{method} works on one table, and this answer stacks several",
    "answer.{example}",
)
UNKNOWN_COLUMN = RefusalText(
    "answer.column",
    "{name!r:.60}",
    "the columns of the answer are {columns}",
    "answer[{near!r}]",
)
NOT_A_HISTOGRAM = RefusalText(
    "answer.column",
    "bins({name!r})",
    "{name} is a {kind}: only histograms and cumulative counts have bins",
    'sf.histogram("age", edges=[0, 20, 40, 60])',
)
CELL_WITHOUT_COLUMN = RefusalText(
    "answer.cell",
    "value()",
    "the answer has {count} columns: name one",
    "value({column!r})",
)
CELL_NOT_UNIQUE = RefusalText(
    "answer.cell",
    "value({name!r})",
    "{count} groups match, and value() reads one cell",
    "value({arguments})",
)
CELL_OF_HISTOGRAM = RefusalText(
    "answer.cell",
    "value({name!r})",
    "{name} is a histogram with many numbers for each group, and value() reads one cell",
    "answer[{name!r}]",
)
TOP_COUNT = RefusalText(
    "answer.top",
    "top({count!s:.40})",
    "the number of groups has to be a whole number from 1 on",
    "top(3)",
)
TOP_WITHOUT_COLUMN = RefusalText(
    "answer.top",
    "top({count})",
    "the answer has {columns} columns: name the one to sort by",
    "top({count}, {column!r})",
)
TOP_BY_HISTOGRAM = RefusalText(
    "answer.top",
    "top({count}, {name!r})",
    "{name} is a histogram with many numbers for each group: groups cannot be sorted by it",
    "a column with one number for each group",
)
NO_GROUP_TO_PLOT = RefusalText(
    "answer.plot",
    "plot({name!r})",
    "the answer has no group to draw",
    "an answer with at least one group",
)
PLOT_TOP = RefusalText(
    "answer.plot",
    "plot({name!r}, top={top!r:.20})",
    "top= is a whole number from 1 on",
    "top=20",
)

# Intervals

QUANTILE_WITHOUT_INTERVAL = RefusalText(
    "answer.interval",
    "interval({name!r}, {level})",
    "the quantile was released without an interval, and its error depends on the data",
    'sf.quantile("spend", 0.5, interval=True) in a new release',
)
QUANTILE_CHOSE_GROUPS = RefusalText(
    "answer.interval",
    "interval({name!r}, {level})",
    "its values chose the shown groups, and one end of its interval is the value itself",
    "interval({name!r}, {released}) of the answer before groups were left out",
)
NO_COMMON_CONFIDENCE = RefusalText(
    "answer.interval",
    "interval({name!r})",
    "it combines a quantile with other columns, and their intervals have no common confidence",
    "the intervals of the columns that it is computed from",
)
CHOICE_NOT_RECORDED = RefusalText(
    "answer.interval",
    "interval({name!r})",
    "its values chose the shown groups, and the answer did not record from which: an older version "
    "stored it, or it averages releases that each chose their own",
    "the answer before groups were left out, one of the releases, or a new release",
)
LEVEL_FOR_EACH_GROUP = RefusalText(
    "answer.level",
    "interval({name!r}, {level})",
    "its interval was released at {released} for each group by itself; all groups at once would "
    "need wider ends",
    'interval({name!r}, {released}), or sf.quantile("spend", 0.5, confidence=0.999) in a new '
    "release",
)
LEVEL_NOT_RELEASED = RefusalText(
    "answer.level",
    "interval({name!r}, {level})",
    "its interval was released at {released}, and no other level follows from it",
    'interval({name!r}, {released}), or sf.quantile("spend", 0.5, confidence={level}) in a new '
    "release",
)
UNKNOWN_LAW = RefusalText(
    "answer.law",
    "{name} by {mechanism}",
    "this version does not know the law of its noise",
    "the sfumato that released it, or a newer one",
)

# agreeing: groups that add up to a total

GROUPS_INCOMPLETE = RefusalText(
    "answer.agreeing",
    "agreeing(name={name!r})",
    "groups may be withheld or left out, so the shown groups need not add up to the total",
    "an answer with public keys, before HAVING, LIMIT or top",
)
WEIGHING_NOT_RECORDED = RefusalText(
    "answer.agreeing",
    "{place}",
    "how it bounded its units is not recorded, so its groups need not add up",
    "a new release of the question",
)
GROUPS_DO_NOT_ADD = RefusalText(
    "answer.agreeing",
    "{place}",
    "its groups do not add up to a total that is released separately: {rule}",
    'releases with sf.Pure(1), which has L1 weights, and bounding="weights" in sf.protect',
)
OTHER_WEIGHING = RefusalText(
    "answer.agreeing",
    "different weighing",
    "the answer and the total bounded units differently: {weighing}, {total_weighing}",
    "releases with promises of one kind: sf.Pure(1) for each",
)
TOTAL_OF_OTHER_ROWS = RefusalText(
    "answer.agreeing",
    "{fact}",
    "the total differs from the answer in its {fact}",
    "a total of the same rows of the same data",
)
TOTAL_KEYS = RefusalText(
    "answer.agreeing",
    "a total by {total_keys}",
    "the total has to be grouped by fewer of the keys {keys}",
    "a total without GROUP BY",
)
TOTAL_GROUPS = RefusalText(
    "answer.agreeing",
    "{totals} totals",
    "the groups of the answer belong to {needed} totals, and not to the same ones",
    "a total of the same rows, by the same keys",
)
TOTAL_COLUMN = RefusalText(
    "answer.agreeing",
    "a total of {columns}",
    "one column has to be the total of {name}, and {count} could be",
    "a total with one {kind} of the same column",
)
SEVERAL_ADDING_COLUMNS = RefusalText(
    "answer.agreeing",
    "agreeing(total=…)",
    "{count} columns add up over groups: name one",
    "name={name!r}",
)
COLUMN_DOES_NOT_ADD = RefusalText(
    "answer.agreeing",
    "name={name!r}",
    "a {kind} of all rows is not the sum over groups",
    "the name of a count or a sum",
)
UNITS_DO_NOT_ADD = RefusalText(
    "answer.agreeing",
    "name={name!r}",
    "a number of units is not the sum over groups: a unit may be in several groups",
    "the name of a count or a sum",
)

# merge: the average of several releases

TOO_FEW_ANSWERS = RefusalText(
    "answer.merge",
    "merge of {count}",
    "merging takes two or more answers",
    "merge([first, second])",
)
SAME_RELEASE_TWICE = RefusalText(
    "answer.merge",
    "{count} answers",
    "the same release is among them twice, and its noise is not independent of itself",
    "merge([first, second]) with two different releases",
)
OTHER_QUESTION = RefusalText(
    "answer.merge",
    "{columns} by {keys}",
    "the first answer is about {first_columns} by {first_keys}: that is another question",
    "releases of the same query",
)
OTHER_DATA = RefusalText(
    "answer.merge",
    "{fact}",
    "the answers differ in their {fact}",
    "answers about the same data",
)
MERGED_WEIGHING_NOT_RECORDED = RefusalText(
    "answer.merge",
    "an answer of unknown weighing",
    "how it bounded its units is not recorded, so it may estimate another number than the others",
    "new releases of the question",
)
MERGED_ROWS_DRAWN = RefusalText(
    "answer.merge",
    "{columns}",
    "every release draws anew which rows, or which values, of a unit count, so two releases "
    "estimate different numbers",
    'bounding="weights" in sf.protect, and sf.count_units() instead of distinct values',
)
MERGED_OTHER_WEIGHING = RefusalText(
    "answer.merge",
    "different weighing",
    "the releases bounded units differently: {first}, and {second}",
    "releases with promises of one kind: sf.Pure(1) for each, or sf.ZCDP(1) for each",
)
MERGED_AFTER_PROCESSING = RefusalText(
    "answer.merge",
    "a processed answer",
    "only released values can be averaged, and this answer was processed",
    "merge([first, second]).rounded()",
)
MERGED_WITHOUT_NOISE = RefusalText(
    "answer.merge",
    "{name}: {kind}",
    "only values with added noise can be averaged",
    "a query without quantiles, MIN and MAX",
)

# Exports and cards

LIBRARY_MISSING = RefusalText(
    "answer.library",
    "{library}",
    "{library} is not installed; to_csv() works without it",
    install_command("tables"),
)
EXPORTED_NAME_TWICE = RefusalText(
    "answer.names",
    "{name}",
    "two columns of the exported table would have this name",
    "intervals=False, or another name for the aggregate",
)
REGISTRY_FIELDS_MISSING = RefusalText(
    "card.registry",
    "without {fields}",
    "the registry requires these fields, and only the publisher knows them",
    "answer.card({arguments})",
)
REGISTRY_DATE_MISSING = RefusalText(
    "card.registry",
    "without {fields}",
    "the registry requires these fields; the receipt of an answer has the date",
    "answer.card({arguments}), of an answer with a receipt",
)

# The parts of an answer

COLUMN_NAMES = RefusalText(
    "answer.shape",
    "columns {names}",
    "an answer needs at least one column, and all names have to differ",
    'aggregate(n=sf.count(), total=sf.sum("spend"))',
)
ROW_LENGTH = RefusalText(
    "answer.shape",
    "{count} keys",
    "every row needs one value for each key",
    "keys=('city',), rows=(('Roma',), ('Bari',))",
)
UNKNOWN_KIND = RefusalText(
    "answer.kind",
    "{name}: {kind!r:.40}",
    "this version has no such kind of column",
    "one of {kinds}",
)
FORMULA_AND_KIND = RefusalText(
    "answer.shape",
    "{name}: {kind}",
    "a computed column needs a formula, and no other column may have one",
    "kind='computed' with a formula, or another kind without one",
)
PIECE_NUMBERS = RefusalText(
    "answer.shape",
    "{name}: {kind}",
    "a {kind} needs {needed} of the {count} pieces",
    "{needed} numbers from 0 to {last} in pieces=",
)
AMONG_TOO_SMALL = RefusalText(
    "answer.shape",
    "{name}: {kind}",
    "{groups} groups are shown, so among= cannot be smaller",
    "among={groups}",
)
NUMBERS_MISSING = RefusalText(
    "answer.shape",
    "{name}: {kind}",
    "the column needs the numbers {numbers}",
    "numbers={{'low': Fraction(0), 'high': Fraction(100)}}, and the others it needs",
)
PIECE_SHAPES = RefusalText(
    "answer.shape",
    "{name}: {kind}",
    "its pieces have the shapes {shapes}, for {groups} groups",
    "values with {groups} rows: one for each group",
)
VALUES_NOT_INTEGERS = RefusalText(
    "answer.pieces",
    "values of {name!r}",
    "a piece needs integers: a row for each group, a cell for each number",
    "values=((42,),)",
)
KEY_TYPE = RefusalText(
    "answer.key",
    "{type}",
    "a key has to be a text, a number, a boolean, a date, a timestamp or a UUID",
    "group_by a column of one of these types",
)
FACT_TYPE = RefusalText(
    "answer.facts",
    "{type}",
    "facts only hold dictionaries, lists, texts, numbers, dates and UUIDs",
    "facts={{'dataset': 'visits'}}",
)

# Stored answers

NOT_A_STORED_ANSWER = RefusalText(
    "answer.stored",
    "{stored!r:.60}",
    "these bytes are not a stored answer",
    "the bytes of answer.to_json()",
)
UNKNOWN_VERSION = RefusalText(
    "answer.stored",
    "version {version!r:.20}",
    "this sfumato reads the versions {oldest} to {newest} of stored answers",
    "a newer sfumato",
)
DAMAGED_ANSWER = RefusalText(
    "answer.stored",
    "{stored!r:.60}",
    "the record is damaged or incomplete",
    "the bytes of answer.to_json()",
)
NOTHING_RISES = RefusalText(
    "answer.cumulative",
    "rising()",
    "{name} has no cumulative counts, and the answer has no other",
    'sf.cumulative("age", edges=[0, 20, 40, 60])',
)
