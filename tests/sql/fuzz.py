"""Texts that nobody would write: made by a small grammar, and texts that people would write with
something changed. The same for the same seed.
"""

from __future__ import annotations

import random

COLUMNS = [
    "user_id",
    "city",
    "age",
    "spend",
    "day",
    "at",
    "vip",
    "amount",
    "note",
    "nothing",
    "v.age",
    '"age"',
    "AGE",
]
CONSTANTS = [
    "0",
    "1",
    "-1",
    "0.5",
    "1e9",
    "1e400",
    "'Roma'",
    "''",
    "NULL",
    "TRUE",
    "DATE '2026-01-31'",
    "DATE '0000-99-99'",
    "?",
    "$a",
    "INTERVAL 1 DAY",
    "'%a%'",
    "99999999999999999999",
    "TIMESTAMP '2026-01-31 10:00:00'",
]
OPERATORS = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "^",
    "||",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "AND",
    "OR",
    "LIKE",
    "ILIKE",
    "IS DISTINCT FROM",
    "&",
    "|",
    "<<",
    "~",
]
FUNCTIONS = {
    1: [
        "abs",
        "floor",
        "sqrt",
        "ln",
        "upper",
        "lower",
        "length",
        "year",
        "trim",
        "random",
        "read_text",
        "nothing",
    ],
    2: [
        "round",
        "nullif",
        "greatest",
        "coalesce",
        "mod",
        "date_trunc",
        "date_part",
        "concat",
        "left",
        "contains",
    ],
    3: ["substr", "clamp", "replace", "split_part", "if"],
}
"""By how many arguments they take."""
AGGREGATES = [
    "COUNT",
    "SUM",
    "AVG",
    "MEDIAN",
    "STDDEV",
    "VARIANCE",
    "MIN",
    "MAX",
    "COUNT_IF",
    "ANY_VALUE",
    "mean",
    "list",
]
TYPES = [
    "INT",
    "BIGINT",
    "DOUBLE",
    "VARCHAR",
    "DATE",
    "TIMESTAMP",
    "BOOLEAN",
    "DECIMAL(10, 2)",
    "DECIMAL(99, 2)",
    "UUID",
    "JSON",
    "INT[]",
    "nothing",
]
NAMES = ["n", "m", "k", "city", '"x y"']
CLAUSES = [
    "LIMIT 3",
    "LIMIT 0 OFFSET 2",
    "LIMIT -1",
    "OFFSET 1",
    "ORDER BY 1",
    "ORDER BY n DESC NULLS FIRST",
    "ORDER BY ALL",
    "QUALIFY TRUE",
    "USING SAMPLE 3",
    "WINDOW w AS ()",
    "FOR UPDATE",
    "UNION SELECT 1",
    ";",
    "; SELECT 1",
    "-- x",
]
SIGNS = [
    *"()[]{},;.'\"*+-/%<>=!?$@#~^&|:\\ \n\t",
    "--",
    "/*",
    "*/",
    "''",
    "é",
    "𝒳",
    "\u200b",
    "\x00",
    "\ud800",
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "HAVING",
    "AS",
    "WITH",
    "JOIN",
    "CASE",
    "END",
    "OVER ()",
    "NOT",
    "NULL",
    "DISTINCT",
]


class Maker:
    """Texts from a seed."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def pick_one(self, options: list[str]) -> str:
        return self.pick.choice(options)

    def scalar(self, depth: int = 3) -> str:
        kind = self.pick.random()
        if depth == 0 or kind < 0.3:
            return self.pick_one(COLUMNS) if self.pick.random() < 0.6 else self.pick_one(CONSTANTS)
        if kind < 0.55:
            built = f"{self.scalar(depth - 1)} {self.pick_one(OPERATORS)} {self.scalar(depth - 1)}"
            return f"({built})" if self.pick.random() < 0.8 else built
        if kind < 0.75:
            count = 1 + self.pick.randrange(3)
            name = self.pick_one(FUNCTIONS[count])
            return f"{name}({', '.join(self.scalar(depth - 1) for _ in range(count))})"
        if kind < 0.82:
            return (
                f"CASE WHEN {self.scalar(depth - 1)} THEN {self.scalar(depth - 1)} ELSE "
                f"{self.scalar(depth - 1)} END"
            )
        if kind < 0.88:
            return f"CAST({self.scalar(depth - 1)} AS {self.pick_one(TYPES)})"
        if kind < 0.92:
            return (
                f"{self.scalar(depth - 1)} IN "
                f"({', '.join(self.scalar(0) for _ in range(self.pick.randrange(4)))})"
            )
        if kind < 0.95:
            return f"{self.scalar(depth - 1)} BETWEEN {self.scalar(0)} AND {self.scalar(0)}"
        return f"({self.scalar(depth - 1)})" if kind < 0.99 else f"(SELECT {self.scalar(0)})"

    def aggregate(self) -> str:
        kind = self.pick.random()
        inner = (
            self.pick_one(["*", "DISTINCT user_id"])
            if kind < 0.1
            else self.scalar(1)
            if kind < 0.7
            else f"CLAMP({self.scalar(1)}, 0, 10)"
        )
        built = f"{self.pick_one(AGGREGATES)}({inner})"
        if kind > 0.9:
            built = self.pick_one(
                [
                    f"QUANTILE({inner}, 0.5)",
                    f"HISTOGRAM({inner}, [0, 10, 20])",
                    f"PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {inner})",
                ]
            )
        return f"{built} FILTER (WHERE {self.scalar(2)})" if self.pick.random() < 0.15 else built

    def item(self) -> str:
        kind = self.pick.random()
        built = (
            self.aggregate()
            if kind < 0.6
            else self.scalar(1)
            if kind < 0.8
            else f"{self.aggregate()} {self.pick_one(OPERATORS[:6])} {self.aggregate()}"
        )
        return f"{built} AS {self.pick_one(NAMES)}" if self.pick.random() < 0.4 else built

    def source(self, depth: int) -> str:
        kind = self.pick.random()
        if depth and kind > 0.9:
            return self.joined(depth - 1)
        if depth == 0 or kind < 0.7:
            return self.pick_one(
                ["visits", "visits", "visits v", "VISITS", "other", '"visits"', "visits AS v", "a"]
            )
        return f"({self.select(depth - 1)}) {self.pick_one(['s', 'AS v', '', 's(a, b)'])}"

    def joined(self, depth: int) -> str:
        """Two sources as one."""
        first, second = self.source(depth), self.source(depth)
        if self.pick.random() < 0.2:
            return (
                f"({self.select(depth)} UNION ALL {self.select(depth)}) "
                f"{self.pick_one(['s', '', 'AS t(a)'])}"
            )
        on = self.pick_one(
            [
                "USING (user_id)",
                "USING (city)",
                "ON a.user_id = b.user_id",
                "ON v.user_id = s.user_id",
                f"ON {self.scalar(2)}",
                "ON TRUE",
                "",
            ]
        )
        how = self.pick_one(
            [
                "JOIN",
                "JOIN",
                "LEFT JOIN",
                "RIGHT JOIN",
                "FULL JOIN",
                "CROSS JOIN",
                "SEMI JOIN",
                "ANTI JOIN",
                "NATURAL JOIN",
                ",",
            ]
        )
        return (
            f"{first} {how} {second} {on}"
            if self.pick.random() < 0.4
            else (
                f"visits AS a {how} {self.pick_one(['visits', f'({self.select(depth)})'])} AS b "
                f"{on}"
            )
        )

    def test(self, depth: int) -> str:
        """A condition that looks at other rows."""
        where = self.pick_one(
            [
                "",
                " WHERE w.user_id = user_id",
                " WHERE w.user_id = visits.user_id",
                " WHERE w.age > 3",
            ]
        )
        tests = [
            f"user_id IN (SELECT user_id FROM visits w{where})",
            f"EXISTS (SELECT * FROM visits AS w{where})",
            f"city NOT IN ({self.select(depth)})",
        ]
        return (
            f"{self.pick_one(['', 'NOT '])}{self.pick_one(tests)}"
            f"{self.pick_one(['', ' AND vip', ' OR vip'])}"
        )

    def select(self, depth: int = 2) -> str:
        text = [
            "SELECT",
            ", ".join(self.item() for _ in range(1 + self.pick.randrange(3))),
            "FROM",
            self.source(depth),
        ]
        if depth and self.pick.random() < 0.1:
            text += ["WHERE", self.test(depth - 1)]
        elif self.pick.random() < 0.5:
            text += [
                "WHERE",
                self.scalar()
                if self.pick.random() < 0.3
                else f"{self.scalar(2)} {self.pick_one(OPERATORS[8:14])} {self.scalar(1)}",
            ]
        if self.pick.random() < 0.5:
            text += [
                "GROUP BY",
                self.pick_one(
                    [
                        "city",
                        "1",
                        "ALL",
                        "user_id",
                        "user_id, city",
                        "n",
                        self.scalar(2),
                        "ROLLUP (city)",
                        "(city, vip)",
                    ]
                ),
            ]
        if self.pick.random() < 0.2:
            text += [
                "HAVING",
                f"{self.aggregate()} > 3" if self.pick.random() < 0.5 else self.scalar(1),
            ]
        if self.pick.random() < 0.25:
            text.append(self.pick_one(CLAUSES))
        return " ".join(text)

    def text(self) -> str:
        kind = self.pick.random()
        built = self.select()
        if kind < 0.1:
            built = f"WITH a AS ({self.select(1)}) {built}"
        if kind > 0.75:
            built = self.changed(built)
        return f"EXPLAIN PRIVACY {built}" if self.pick.random() < 0.05 else built

    def changed(self, text: str) -> str:
        """A few letters or words taken out, doubled or put in."""
        for _ in range(1 + self.pick.randrange(4)):
            at, kind = self.pick.randrange(len(text) + 1), self.pick.randrange(4)
            stop = min(len(text), at + self.pick.randrange(12))
            if kind == 0:
                text = text[:at] + text[stop:]
            elif kind == 1:
                text = text[:at] + self.pick_one(SIGNS) + text[at:]
            elif kind == 2:
                text = text[:at] + text[at:stop] * 2 + text[stop:]
            else:
                words = text.split(" ")
                first, second = self.pick.randrange(len(words)), self.pick.randrange(len(words))
                words[first], words[second] = words[second], words[first]
                text = " ".join(words)
        return text
