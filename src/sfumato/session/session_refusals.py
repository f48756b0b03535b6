"""The refusals of `session`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText
from ..ledger import BudgetExceeded

_SEVERAL_TABLES = (
    "protect({{'patients': 'patients.parquet', 'visits': 'visits.parquet'}}, unit='patients.id', "
    "links={{'visits.patient_id': 'patients.id'}}, budget=2)"
)
LESS = "a smaller cost, or max_rows= and bounds= in protect()"
"""A rewrite where no cost is known to fit."""

# Declaring several tables

TABLES_WITHOUT_NAMES = RefusalText(
    "table.public",
    "protect({{…}})",
    "give tables by name, at least one of them protected",
    _SEVERAL_TABLES,
)
TABLE_NAME_TWICE = RefusalText(
    "table.public",
    "{tables:.80}",
    "two tables have the same name, up to capitals",
    "a different name for each table",
)
LINKS_OF_ONE_TABLE = RefusalText(
    "table.links",
    "links=…, public=…",
    "links= and public= need several tables, given by name",
    _SEVERAL_TABLES,
)
UNIT_AND_EACH_ROW = RefusalText(
    "table.unit",
    "unit={unit!r:.60}, each_row_a_person=True",
    "with a unit, all rows of one unit are protected together: a row is no person of its own",
    "unit={unit!r:.60}",
)
ONE_TABLE_OF_MANY = RefusalText(
    "table.source",
    "table={table!r:.60}",
    "table= names the table of one source; several tables are given by name",
    _SEVERAL_TABLES,
)
LINKS_NOT_MAPPING = RefusalText(
    "table.links",
    "links={links!s:.60}",
    "links= is a mapping from column to column",
    "links={{'visits.patient_id': 'patients.id'}}",
)
TYPES_NOT_MAPPING = RefusalText(
    "table.type",
    "types={values!s:.60}",
    "types= is a mapping by table.column",
    "types={{'visits.spend': 'float64'}}",
)
BOUNDS_NOT_MAPPING = RefusalText(
    "table.bounds",
    "bounds={values!s:.60}",
    "bounds= is a mapping by table.column",
    "bounds={{'visits.spend': (0, 100)}}",
)
KEYS_NOT_MAPPING = RefusalText(
    "table.keys",
    "keys={values!s:.60}",
    "keys= is a mapping by table.column",
    "keys={{'visits.spend': [1, 2, 3]}}",
)
LEARNED_NOT_MAPPING = RefusalText(
    "table.learned",
    "learned=…",
    "for several tables, learned= is a mapping by table",
    "learned={{'visits': declaration.learned}}",
)
LIMIT_OF_UNKNOWN_TABLE = RefusalText(
    "table.max-rows",
    "{argument}={{{table!r:.60}: …}}",
    "there is no protected table of that name",
    "{argument}={{{near!r:.60}: 5}}",
)
UNKNOWN_TABLE = RefusalText(
    "table.name",
    "db[{name!r:.60}]",
    "there is no protected table of that name: the tables are {tables:.120}",
    "db[{near!r:.60}]",
)
TABLE_IS_PUBLIC = RefusalText(
    "table.name",
    "db[{name!r:.60}]",
    "there is no protected table of that name: it is public",
    "db.public[{name!r:.60}]",
)

# The cost of an answer

NO_PROMISE = RefusalText(
    "plan.promise",
    "no promise",
    "how much of the budget may this cost?",
    "epsilon=0.1",
    shell="--epsilon 0.1",
)
TWO_PROMISES = RefusalText(
    "plan.promise",
    "epsilon=…, promise=…",
    "give epsilon= or promise=, not both",
    "promise=sf.Pure(0.5)",
)
PROMISE_TYPE = RefusalText(
    "plan.promise",
    "promise={type}",
    "a promise is a Guarantee",
    "promise=sf.Pure(0.5)",
)
PROMISE_NOT_DIVISIBLE = RefusalText(
    "plan.promise",
    "{promise}",
    "a promise can be split if it is one of {kinds}: one number, or one number and a δ",
    "promise=sf.Pure(0.5)",
)

# Partitions

PARTITION_OF_DATABASE = RefusalText(
    "partition.table",
    "{table}.partition(…)",
    "the tables of a database share one unit, and questions to a part may join others",
    "sf.protect(source, name='{table}')",
)
PARTITION_UNDER_REPLACE = RefusalText(
    "partition.relation",
    "{table}.partition(…)",
    "a unit that is replaced may leave one part and enter another, and both parts would cost",
    "relation='add-remove'",
)
PARTITION_OF_PART = RefusalText(
    "partition.table",
    "{table}.partition(…)",
    "this is a part already: parts of parts would need accounts of accounts",
    "one partition by all of the parts",
)
UNIT_IN_SEVERAL_PARTS = RefusalText(
    "partition.by",
    "by {by}",
    "a unit ({unit}) may have rows in several parts, so their costs would add up for it",
    "{table}.partition(sf.col({first!r}), [1, 2, 3])",
)
PARTS_NOT_LISTED = RefusalText(
    "partition.parts",
    "by {by}: {count} values, {distinct} different",
    "the values of the parts are public and listed: 1 to {most} different ones, or public keys",
    "values=[1, 2, 3]",
)
PART_OF_NULLS = RefusalText(
    "partition.parts",
    "by {by}: None",
    "rows without a value are in no part",
    "the other values",
)

# The accuracy of an answer

ACCURACY_AND_PROMISE = RefusalText(
    "within.promise",
    "epsilon=…, within=…",
    "give the cost or the accuracy, not both",
    "within=25",
)
ACCURACY_WITHOUT_COLUMN = RefusalText(
    "within.columns",
    "within={{}}",
    "no column is named",
    "within={{{column!r:.60}: 25}}",
    shell="--within {column}=25",
)
ACCURACY_OF_SEVERAL_COLUMNS = RefusalText(
    "within.columns",
    "within={within}",
    "the answer has {count} columns: name those that within= is about",
    "within={{{column!r:.60}: {within}}}",
    shell="--within {column}={within}",
)
ACCURACY_OF_UNKNOWN_COLUMN = RefusalText(
    "within.columns",
    "within={{{name!r:.60}: …}}",
    "the columns of the answer are {columns}",
    "within={{{column!r:.60}: 25}}",
    shell="--within {column}=25",
)
ACCURACY_NEEDS_GROUP_SIZE = RefusalText(
    "within.group-size",
    "within={{{name!r:.60}: …}}",
    "the accuracy of a {kind} depends on its number of rows, which is not public: assume one",
    "group_size=1000",
    shell="--group-size 1000",
)
ACCURACY_OF_QUANTILE = RefusalText(
    "within.quantile",
    "within={{{name!r:.60}: …}}",
    "a quantile is off by a number of rows, which plan().error() states; how far that is in values "
    "depends on the data",
    "epsilon=0.1",
)
ACCURACY_OF_UNKNOWN_GROUPS = RefusalText(
    "within.groups",
    "simultaneous=True",
    "the number of groups is not public, so the probability of error cannot be split among them",
    "simultaneous=False, or keys= in protect()",
)
ACCURACY_NEEDS_LIMITS = RefusalText(
    "within.learning",
    "within=…",
    "the cost depends on limits that are not known yet: {missing}",
    "{table}.learn(epsilon=0.05)",
)
ACCURACY_OUT_OF_REACH = RefusalText(
    "within.reach",
    "within={within}",
    "no cost is high enough: the grid of the values alone moves the answer further",
    "a larger within=, narrower bounds, or a smaller max_rows=",
)

# Questions and batches

NOT_A_QUERY = RefusalText(
    "plan.query",
    "{type}",
    "this is no query of this table",
    "{table}.aggregate(n=sf.count())",
)
REPORT_WITHOUT_QUESTIONS = RefusalText(
    "report.questions",
    "report(…)",
    "a report needs a list of questions, or a dictionary from names to questions",
    "sf.report({table}, {{'total': {table}.count()}})",
)
REPORT_NAMES_TWICE = RefusalText(
    "report.questions",
    "report(…)",
    "two tables of the report have the same name, and tables without names are named by their keys",
    "a dictionary from names to questions",
)
REPORT_OF_OTHER_ROWS = RefusalText(
    "report.questions",
    "{name}",
    "all tables of a report count the same rows of {table}: {name} is about others",
    "the same conditions in all questions, or a report of its own for {name}",
)
REPORT_OF_OTHER_COLUMNS = RefusalText(
    "report.questions",
    "{name}",
    "the tables of a report have the same columns: {name} asks for others",
    "the same aggregates in all questions, or a report of its own",
)
REPORT_OF_OTHER_KEYS = RefusalText(
    "report.questions",
    "{name}",
    "{key} has other public keys in {name} than in another table, so they cannot agree",
    "the same public keys of {key} in all questions",
)
REFRESH_WITHOUT_VERSIONS = RefusalText(
    "report.versions",
    "versions=",
    "a refresh needs your label of the state of each part",
    "versions={{'2026-01': 'final', '2026-02': 'first'}}",
)
REFRESH_OF_OTHER_PARTS = RefusalText(
    "report.versions",
    "{parts:.80}",
    "each part has a condition and a version, under one name; these lack one, or have two",
    "parts={{'young': 'age < 30'}}, versions={{'young': 'final'}}",
)
REFRESH_LABEL = RefusalText(
    "report.versions",
    "{part:.40}: {label!r:.40}",
    "the label of a version is printable text; with the name of its part it is short enough for "
    "a name",
    "versions={{'2026-01': 'final'}}",
)
STORED_COUNTS_ALONE = RefusalText(
    "report.questions",
    "use_stored=True",
    "stored answers can make counts of rows more exact, and no other column",
    "a report of COUNT(*) alone with use_stored=True, and another one for the other columns",
)
BATCH_SIZE = RefusalText(
    "plan.batch",
    "release_all(…)",
    "a batch is a list of 1 to {most} questions",
    "{table}.release_all(['SELECT COUNT(*) FROM {table}'], epsilon=1)",
)
BATCH_PARAMETERS = RefusalText(
    "plan.batch",
    "{count} parameters=",
    "there are {questions} questions: give each its parameters, or None",
    "parameters=[None] * {questions}",
)
BATCH_EXPLAINED = RefusalText(
    "plan.batch",
    "EXPLAIN PRIVACY",
    "plan_all explains a batch as a whole",
    "{table}.plan_all(queries, epsilon=1).explain()",
)
BATCH_WITH_EQUAL_QUESTIONS = RefusalText(
    "plan.batch",
    "{count} questions",
    "two of them are equal: ask each question once",
    "each question once",
)

# Learning limits

LEARN_FOR_UNKNOWN = RefusalText(
    "learn.for",
    "learn_for={value!r:.40}",
    "limits are learned for the 'question' that needs them, or for small 'groups' of the table",
    "learn_for='question'",
)
CHECK_WITHOUT_UNIT = RefusalText(
    "check.limits",
    "check_limits(…)",
    "without a unit in protect() each row is taken as a different person, and none is beyond a "
    "limit",
    "unit='user_id'",
)
CHECK_OF_LEARNED_LIMIT = RefusalText(
    "check.limits",
    "check_limits(…)",
    "nobody declared max_rows; where it is learned, answers say what lies beyond it",
    "{table}.learn(epsilon=0.05)",
)
NO_BOUNDS_TO_LEARN = RefusalText(
    "learn.column",
    "columns=[{column!r:.60}]",
    "no column needs bounds: those of every number are declared or learned",
    "columns=None",
)
BOUNDS_ARE_KNOWN = RefusalText(
    "learn.column",
    "columns=[{column!r:.60}]",
    "its bounds are known",
    "columns={columns!r}",
)
BOUNDS_OF_UNIT = RefusalText(
    "learn.column",
    "columns=[{column!r:.60}]",
    "it is the unit, which has no bounds",
    "columns={columns!r}",
)
BOUNDS_WITHOUT_NUMBERS = RefusalText(
    "learn.column",
    "columns=[{column!r:.60}]",
    "only numbers have bounds",
    "columns={columns!r}",
)
GROUPS_NOT_COLUMNS = RefusalText(
    "learn.groups",
    "groups={keys!r:.60}",
    "groups= names columns of the table, and none of the unit",
    "groups='city'",
)
DAMAGED_LIMIT = RefusalText(
    "answer.stored",
    "a learned limit",
    "its record is damaged or incomplete: ledger.verify() finds where, and a backup restores it",
    "ledger.verify()",
)

# What does not fit into the budget

LEARNING_EXCEEDS_BUDGET = RefusalText(
    "budget.exceeded",
    "{account}",
    "learning ({cost}) does not fit: {left} is left; nothing was read, nothing was spent",
    LESS,
    kind=BudgetExceeded,
)
LEARNING_AND_ANSWER_EXCEED_BUDGET = RefusalText(
    "budget.exceeded",
    "{account}",
    "learning ({cost}) and the answer do not fit together: {left} is left; nothing was read, "
    "nothing was spent",
    "{less}",
    kind=BudgetExceeded,
)
STEPS_EXCEED_BUDGET = RefusalText(
    "budget.exceeded",
    "{account}",
    "the {steps} steps of this question cost {cost} together, with what they learn: {left} is "
    "left; nothing was read, nothing was spent",
    LESS,
    kind=BudgetExceeded,
)
STEPS_WITH_ACCURACY = RefusalText(
    "sql.subquery",
    "within=",
    "the sub-query is released first, and an accuracy says nothing of its part: give a cost",
    "epsilon=0.5",
)
STEP_WITHOUT_NUMBER = RefusalText(
    "sql.subquery",
    "{question}",
    "this was released first, and its answer is no number to compare with",
    "a constant in its place",
)
LESSONS_EXCEED_BUDGET = RefusalText(
    "budget.exceeded",
    "{account}",
    "the unpaid cost of learned limits does not fit: {left} is left; nothing was read, nothing was "
    "spent",
    LESS,
    kind=BudgetExceeded,
)
LESSONS_AND_ANSWER_EXCEED_BUDGET = RefusalText(
    "budget.exceeded",
    "{account}",
    "the unpaid cost of learned limits and the answer do not fit together: {left} is left; nothing "
    "was read, nothing was spent",
    LESS,
    kind=BudgetExceeded,
)
HIERARCHY_OF_TWO_TABLES = RefusalText(
    "table.hierarchy",
    "keys of ({columns:.80})",
    "the levels of a hierarchy are columns of one table",
    "keys={{('people.state', 'people.county'): places}}",
)
