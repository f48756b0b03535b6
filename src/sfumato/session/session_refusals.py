"""The refusals of `session`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

ANSWER_STORED_1 = RefusalText(
    "answer.stored",
    "a learned limit",
    "its record is damaged or incomplete",
    "sf.Ledger.verify, and the last backup",
)
LEARN_COLUMN_1 = RefusalText(
    "learn.column",
    "columns=[{column!r:.60}]",
    "{why}",
    "{rewrite}",
)
LEARN_GROUPS_1 = RefusalText(
    "learn.groups",
    "groups={keys!r:.60}",
    "groups= names columns of the table, and none of the unit",
    "groups='city'",
)
PLAN_BATCH_1 = RefusalText(
    "plan.batch",
    "release_all(…)",
    "a batch is a list of 1 to {MOST} questions",
    "{name}.release_all(['SELECT COUNT(*) FROM {name}'], epsilon=1)",
)
PLAN_BATCH_2 = RefusalText(
    "plan.batch",
    "{values_count} parameters=",
    "there are {listed_count} questions: give each its parameters, or None",
    "parameters={value}",
)
PLAN_BATCH_3 = RefusalText(
    "plan.batch",
    "EXPLAIN PRIVACY",
    "plan_all explains a batch as a whole",
    "{name}.plan_all(queries, epsilon=1).explain()",
)
PLAN_BATCH_4 = RefusalText(
    "plan.batch",
    "{first_count} questions",
    "two of them are equal: ask each question once",
    "each question once",
)
PLAN_PROMISE_1 = RefusalText(
    "plan.promise",
    "no promise",
    "how much of the budget may this cost?",
    "epsilon=0.1",
)
PLAN_PROMISE_2 = RefusalText(
    "plan.promise",
    "{promise}",
    "a promise can be split if it is one number, or one number and a δ",
    "a promise of {kinds}",
)
PLAN_PROMISE_3 = RefusalText(
    "plan.promise",
    "epsilon=…, promise=…",
    "give epsilon= or promise=, not both",
    "promise=sf.Pure(0.5)",
)
PLAN_PROMISE_4 = RefusalText(
    "plan.promise",
    "promise={type}",
    "a promise is a Guarantee",
    "promise=sf.Pure(0.5)",
)
PLAN_QUERY_1 = RefusalText(
    "plan.query",
    "{type}",
    "this is no query of this table",
    "{name}.aggregate(n=sf.count())",
)
TABLE_LEARNED_1 = RefusalText(
    "table.learned",
    "learned=…",
    "for several tables, learned= is a mapping by table",
    "learned={{'visits': declaration.learned}}",
)
TABLE_LINKS_1 = RefusalText(
    "table.links",
    "links=…, public=…",
    "links= and public= need several tables, given by name",
    "{EXAMPLE}",
)
TABLE_LINKS_2 = RefusalText(
    "table.links",
    "links={links!s:.60}",
    "links= is a mapping from column to column",
    "links={{'visits.patient_id': 'patients.id'}}",
)
TABLE_MAX_ROWS_1 = RefusalText(
    "table.max-rows",
    "{what}={{{table!r:.60}: …}}",
    "there is no protected table of that name",
    "{what}={{{next!r:.60}: 5}}",
)
TABLE_NAME_1 = RefusalText(
    "table.name",
    "db[{name!r:.60}]",
    "there is no protected table of that name",
    "{rewrite}",
)
TABLE_PUBLIC_1 = RefusalText(
    "table.public",
    "protect({{…}})",
    "give tables by name, at least one of them protected",
    "{EXAMPLE}",
)
TABLE_PUBLIC_2 = RefusalText(
    "table.public",
    "{value}",
    "two tables have the same name, up to capitals",
    "a different name for each table",
)
WITHIN_COLUMNS_1 = RefusalText(
    "within.columns",
    "within={{}}",
    "no column is named",
    "within={{{next!r:.60}: 25}}",
)
WITHIN_COLUMNS_2 = RefusalText(
    "within.columns",
    "within={within}",
    "the answer has {kinds_count} columns: name those that within= is about",
    "within={{{next!r:.60}: {within}}}",
)
WITHIN_COLUMNS_3 = RefusalText(
    "within.columns",
    "within={{{name!r:.60}: …}}",
    "the answer has {kinds}",
    "within={{{next!r:.60}: 25}}",
)
WITHIN_GROUP_SIZE_1 = RefusalText(
    "within.group-size",
    "within={{{name!r:.60}: …}}",
    "{reason}",
    "group_size=1000",
)
WITHIN_GROUPS_1 = RefusalText(
    "within.groups",
    "simultaneous=True",
    "the number of groups is not public, so the probability of error cannot be split among them",
    "simultaneous=False, or keys= in protect()",
)
WITHIN_LEARNING_1 = RefusalText(
    "within.learning",
    "within=…",
    "the cost depends on limits not known yet: {missing}",
    "{name}.learn(epsilon=0.05)",
)
WITHIN_PROMISE_1 = RefusalText(
    "within.promise",
    "epsilon=…, within=…",
    "give the cost or the accuracy, not both",
    "within=25",
)
WITHIN_QUANTILE_1 = RefusalText(
    "within.quantile",
    "within={{{name!r:.60}: …}}",
    "{reason}",
    "epsilon=0.1, and plan().error() for the number of rows",
)
WITHIN_REACH_1 = RefusalText(
    "within.reach",
    "{place}",
    "no cost is high enough: the grid of the values alone moves the answer further",
    "a larger within=, narrower bounds, or a smaller max_rows=",
)
