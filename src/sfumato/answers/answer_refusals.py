"""The refusals of `answers`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

ANSWER_AGREEING_1 = RefusalText(
    "answer.agreeing",
    "agreeing(name={name!r})",
    "groups may be withheld or left out, so the shown groups need not add up to the total",
    "an answer with public keys, before HAVING, LIMIT or top",
)
ANSWER_AGREEING_2 = RefusalText(
    "answer.agreeing",
    "{targets_count} totals",
    "the groups of the answer belong to {members_count} totals, and not to the same ones",
    "a total of the same rows, by the same keys",
)
ANSWER_AGREEING_3 = RefusalText(
    "answer.agreeing",
    "a total by {value}",
    "the total must be grouped by fewer of the keys {value_2}",
    "a total without GROUP BY",
)
ANSWER_AGREEING_4 = RefusalText(
    "answer.agreeing",
    "a total of {names}",
    "one column has to be the total of {name}, and {same_count} could be",
    "a total with one {kind} of the same column",
)
ANSWER_AGREEING_5 = RefusalText(
    "answer.agreeing",
    "{place}",
    "{reason}",
    "a new release of the question",
)
ANSWER_AGREEING_6 = RefusalText(
    "answer.agreeing",
    "{place}",
    "{reason}",
    'releases with sf.Pure(1), which has L1 weights, and bounding="weights" in sf.protect',
)
ANSWER_AGREEING_7 = RefusalText(
    "answer.agreeing",
    "different weighing",
    "the answer and the total bounded units differently: {weighing}, {total_weighing}",
    "releases with promises of one kind: sf.Pure(1) for each",
)
ANSWER_AGREEING_8 = RefusalText(
    "answer.agreeing",
    "agreeing(total=…)",
    "{adding_count} columns add up over groups: name one",
    "name={name!r}",
)
ANSWER_AGREEING_9 = RefusalText(
    "answer.agreeing",
    "name={name!r}",
    "{reason}",
    "the name of a count or a sum",
)
ANSWER_AGREEING_10 = RefusalText(
    "answer.agreeing",
    "{name}",
    "the total differs from the answer in its {name}",
    "a total of the same rows of the same data",
)
ANSWER_CELL_1 = RefusalText(
    "answer.cell",
    "value()",
    "the answer has {columns_count} columns: name one",
    "value({names!r})",
)
ANSWER_CELL_2 = RefusalText(
    "answer.cell",
    "value({name!r})",
    "{matching_count} groups of a {kind} match, and value() reads one cell",
    "{rewrite}",
)
ANSWER_COLUMN_1 = RefusalText(
    "answer.column",
    "{name!r:.60}",
    "the columns of the answer are {names}",
    "answer[{near!r}]",
)
ANSWER_COLUMN_2 = RefusalText(
    "answer.column",
    "bins({name!r})",
    "{name} is a {kind}, and only a histogram has bins",
    'sf.histogram("age", edges=[0, 20, 40, 60])',
)
ANSWER_FACTS_1 = RefusalText(
    "answer.facts",
    "{type}",
    "facts may hold only dictionaries, lists, texts, numbers, dates and UUIDs",
    "facts={{'dataset': 'visits'}}",
)
ANSWER_INTERVAL_1 = RefusalText(
    "answer.interval",
    "interval({name!r})",
    "it combines a quantile with other columns, and their intervals have no common confidence",
    "the intervals of the columns that it is computed from",
)
ANSWER_INTERVAL_2 = RefusalText(
    "answer.interval",
    "interval({name!r})",
    (
        "its values chose the shown groups, and the older version that stored the answer did "
        "not record from how many groups"
    ),
    "the answer before groups were left out, or a new release",
)
ANSWER_INTERVAL_3 = RefusalText(
    "answer.interval",
    "{place}",
    "{reason}",
    'sf.quantile("spend", 0.5, interval=True) in a new release',
)
ANSWER_INTERVAL_4 = RefusalText(
    "answer.interval",
    "{place}",
    "{reason}",
    "interval({name!r}, {fixed}) of the answer before groups were left out",
)
ANSWER_KEY_1 = RefusalText(
    "answer.key",
    "{type}",
    "a key must be a text, a number, a boolean, a date, a timestamp or a UUID",
    "group_by a column of one of these types",
)
ANSWER_KIND_1 = RefusalText(
    "answer.kind",
    "{name}: {kind!r:.40}",
    "this version has no such kind of column",
    "one of {KINDS}",
)
ANSWER_LAW_1 = RefusalText(
    "answer.law",
    "{name} by {kind}",
    "this version does not know the law of its noise",
    "the sfumato that released it, or a newer one",
)
ANSWER_LEVEL_1 = RefusalText(
    "answer.level",
    "{place}",
    "{reason}",
    'interval({name!r}, {fixed}), or sf.quantile("spend", 0.5, confidence=0.999) in a new release',
)
ANSWER_LEVEL_2 = RefusalText(
    "answer.level",
    "{place}",
    "{reason}",
    (
        'interval({name!r}, {fixed}), or sf.quantile("spend", 0.5, confidence={level}) in a new '
        "release"
    ),
)
ANSWER_LIBRARY_1 = RefusalText(
    "answer.library",
    "{name}",
    "{name} is not installed",
    "pip install 'sfumato[tables]', or to_csv()",
)
ANSWER_MERGE_1 = RefusalText(
    "answer.merge",
    "merge of {answers_count}",
    "merging takes two or more answers",
    "merge([first, second])",
)
ANSWER_MERGE_2 = RefusalText(
    "answer.merge",
    "{answers_count} answers",
    "the same release is among them twice, and its noise is not independent of itself",
    "merge([first, second]) with two different releases",
)
ANSWER_MERGE_3 = RefusalText(
    "answer.merge",
    "an answer of unknown weighing",
    "{reason}",
    "new releases of the question",
)
ANSWER_MERGE_4 = RefusalText(
    "answer.merge",
    "{names}",
    "{reason}",
    'bounding="weights" in sf.protect, and sf.count_units() instead of distinct values',
)
ANSWER_MERGE_5 = RefusalText(
    "answer.merge",
    "different weighing",
    "{reason}",
    "releases with promises of one kind: sf.Pure(1) for each, or sf.ZCDP(1) for each",
)
ANSWER_MERGE_6 = RefusalText(
    "answer.merge",
    "{names} by {value}",
    "the first answer is about {names_2} by {value_2}: that is another question",
    "releases of the same query",
)
ANSWER_MERGE_7 = RefusalText(
    "answer.merge",
    "a processed answer",
    "only released values can be averaged, and this answer was processed",
    "merge([first, second]).rounded(): merge first, then process",
)
ANSWER_MERGE_8 = RefusalText(
    "answer.merge",
    "{name}",
    "the answers differ in their {name}",
    "answers about the same data",
)
ANSWER_MERGE_9 = RefusalText(
    "answer.merge",
    "{name}: {kind}",
    "only values with added noise can be averaged",
    "a query without quantiles, MIN and MAX",
)
ANSWER_NAMES_1 = RefusalText(
    "answer.names",
    "{name}{suffix}",
    "two columns of the exported table would have this name",
    "intervals=False, or another name for the aggregate",
)
ANSWER_PIECES_1 = RefusalText(
    "answer.pieces",
    "values of {name!r}",
    "a piece needs integers: a row for each group, a cell for each number",
    "values=((42,),)",
)
ANSWER_PLOT_1 = RefusalText(
    "answer.plot",
    "plot({name!r})",
    "there are {rows_count} groups to draw, with top={top!r:.20}",
    "top=20, for an answer with at least one group",
)
ANSWER_SHAPE_1 = RefusalText(
    "answer.shape",
    "columns {names}",
    "an answer needs at least one column, and all names must differ",
    'aggregate(n=sf.count(), total=sf.sum("spend"))',
)
ANSWER_SHAPE_2 = RefusalText(
    "answer.shape",
    "{keys_count} keys",
    "every row needs one value for each key",
    "keys=('city',), rows=(('Roma',), ('Bari',))",
)
ANSWER_SHAPE_3 = RefusalText(
    "answer.shape",
    "{place}",
    "a computed column needs a formula, and no other column may have one",
    "kind='computed' with a formula, or another kind without one",
)
ANSWER_SHAPE_4 = RefusalText(
    "answer.shape",
    "{place}",
    "a {kind} needs {piece_count} of the {pieces_count} pieces",
    "{piece_count} numbers from 0 to {value} in pieces=",
)
ANSWER_SHAPE_5 = RefusalText(
    "answer.shape",
    "{place}",
    "{rows_count} groups are shown, so among= cannot be smaller",
    "among=0, or among={rows_count} or more",
)
ANSWER_SHAPE_6 = RefusalText(
    "answer.shape",
    "{place}",
    "the column needs the numbers {lacking}",
    "numbers={{'low': Fraction(0), 'high': Fraction(100)}}, and the others it needs",
)
ANSWER_SHAPE_7 = RefusalText(
    "answer.shape",
    "{place}",
    "its pieces have the shapes {shapes}, for {rows_count} groups",
    "values with {rows_count} rows: one for each group",
)
ANSWER_STORED_1 = RefusalText(
    "answer.stored",
    "{stored!r:.60}",
    "these bytes are not a stored answer",
    "the bytes of answer.to_json()",
)
ANSWER_STORED_2 = RefusalText(
    "answer.stored",
    "version {get!r:.20}",
    "this sfumato reads the versions {FIRST} to {VERSION} of stored answers",
    "a newer sfumato",
)
ANSWER_STORED_3 = RefusalText(
    "answer.stored",
    "{stored!r:.60}",
    "the record is damaged or incomplete",
    "the bytes of answer.to_json()",
)
ANSWER_TOP_1 = RefusalText(
    "answer.top",
    "top({count!s:.40})",
    "the number of groups must be a whole number from 1 on",
    "top(3)",
)
ANSWER_TOP_2 = RefusalText(
    "answer.top",
    "top({count})",
    "the answer has {columns_count} columns: name the one to sort by",
    "top({count}, {names!r})",
)
ANSWER_TOP_3 = RefusalText(
    "answer.top",
    "top({count}, {name!r})",
    "groups cannot be sorted by a histogram, which has many numbers for each group",
    "a column with one number for each group",
)
CARD_REGISTRY_1 = RefusalText(
    "card.registry",
    "without {lacking}",
    "the registry requires these fields, and only the publisher knows them",
    "{lacking_2}",
)
