"""The refusals of a census. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

NOT_A_PROTECTED_TABLE = RefusalText(
    "census.table",
    "census({kind:.40})",
    "a census counts a protected table of this process",
    "people = sf.protect('people.parquet', budget=sf.ZCDP(3))",
)
GEOGRAPHY_UNKNOWN = RefusalText(
    "census.geography",
    "geography={geography!s:.80}",
    "the geography is a hierarchy of places from a public table, or the columns of a declared one",
    "geography=sf.hierarchy('state', 'county', places='places.csv')",
)
LEVEL_NOT_A_COLUMN = RefusalText(
    "census.geography",
    "level {level!r:.60}",
    "every level is a column of the table, which has {columns:.200}",
    "rename the column, or the level",
)
CELLS_MISSING = RefusalText(
    "census.cells",
    "cells={cells!s:.60}",
    "a census counts people by at least one attribute, each a column once, and no level of the "
    "geography",
    "cells=['sex', 'age']",
)
CELLS_WITHOUT_KEYS = RefusalText(
    "census.cells",
    "cells: {column!r:.60}",
    "the values of an attribute are public: declare them with the table, or list them here",
    "cells={{{column!r:.60}: ['first', 'second']}}",
)
TOO_MANY_NUMBERS = RefusalText(
    "census.cells",
    "{numbers:,} numbers",
    "a census holds at most {most:,} numbers at its smallest places",
    "fewer attributes, fewer keys, or a geography that ends at a higher level",
)
TABLE_UNKNOWN = RefusalText(
    "census.tables",
    "tables: {table!s:.80}",
    "a table is 'total', 'detail', an attribute, or a tuple of attributes among {names:.120}",
    "tables=['total', {first!r:.60}, 'detail']",
)
TABLES_MISSING = RefusalText(
    "census.tables",
    "tables={tables!s:.60}",
    "tables are a list, or a mapping to weights above 0, each table once; or such a list for "
    "each level",
    "tables={{'total': 1, 'detail': 2}}",
)
DETAIL_MISSING = RefusalText(
    "census.tables",
    "tables of {level!s:.60}",
    "the smallest places need the table of all attributes together: all other numbers are read "
    "from it, too",
    "tables=['total', 'detail']",
)
LEVEL_UNKNOWN = RefusalText(
    "census.levels",
    "{argument:.20}: {level!r:.60}",
    "the geography has the levels {levels:.120}",
    "{argument:.20} by level, such as {first!r:.60}",
)
WEIGHT_NOT_POSITIVE = RefusalText(
    "census.levels",
    "{name!s:.60}: {weight!s:.40}",
    "a weight is a number from 0 on; the smallest level, and one table of each level, has more "
    "than 0",
    "levels={{{level!r:.60}: 1}}",
)
COST_MISSING = RefusalText(
    "census.cost",
    "rho={rho}, epsilon={epsilon}, delta={delta}",
    "the cost is rho=, or epsilon= with a delta= above 0",
    "rho='1/2'",
)
BUDGET_IN_EPSILON = RefusalText(
    "census.cost",
    "rho={rho}",
    "the budget of this table is {budget!s:.60}, which no ρ alone fits into",
    "epsilon=1, delta=1e-7; or budget=sf.ZCDP(3) when the table is protected",
)
TOTAL_FROM_DATA = RefusalText(
    "census.public",
    "{argument:.20}={value!s:.60}",
    "a total that is read from the data without noise is outside the promise: nothing would "
    "protect it. Declare numbers that are public already",
    "{argument:.20}={{{level!r:.40}: {{{place!r:.40}: 1234}}}}",
)
PLACE_UNKNOWN = RefusalText(
    "census.public",
    "{argument:.20}: {place!s:.80}",
    "{level:.60} has no such place, or several of this name: then the path names it",
    "{argument:.20}={{{level!r:.40}: {{{example!r:.80}: 1234}}}}",
)
TOTALS_DISAGREE = RefusalText(
    "census.public",
    "{level!s:.60} {place!s:.80}",
    "what is public about it and about the places in it contradicts itself: its total would be "
    "at least {least:,} and at most {most:,}",
    "correct public= or at_least=",
)
IMPOSSIBLE_UNKNOWN = RefusalText(
    "census.impossible",
    "impossible: {cell!s:.80}",
    "cells are named by attributes and their keys, and some cells remain possible",
    "impossible=[{{{first!r:.40}: {key!r:.40}}}]",
)
SUMS_TOO_LARGE = RefusalText(
    "census.table",
    "table_rows=2^{bits}",
    "so many rows, with the weights of units, could exceed 62 bits",
    "table_rows=2**40",
)
TABLE_NOT_PUBLISHED = RefusalText(
    "census.by",
    "by={by!s:.60}",
    "a table is by different attributes among {names:.120}, at one of the levels {levels:.120}",
    "table({level!r:.40}, by={first!r:.40})",
)
AREA_UNKNOWN = RefusalText(
    "census.area",
    "area: {place!s:.80}",
    "an area is a list of different {level:.60}s, each by its name, or by its path if names repeat",
    "area([{example!r:.80}])",
)
DAMAGED_CENSUS = RefusalText(
    "census.stored",
    "a stored census",
    "the record is damaged, or of another plan",
    "fresh=True",
)
