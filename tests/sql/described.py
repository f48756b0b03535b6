"""Questions described once and written twice: as SQL and in the fluent form. Both have to become
the same plan.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sfumato as sf
from sfumato.session import Table
from sfumato.tables.expr.expressions import Expr, call, when
from sfumato.tables.query.aggregate import Aggregate, Aggregates

Pair = tuple[str, Expr]
"""An expression: its SQL, and itself."""


@dataclass(frozen=True)
class Question:
    """A question as text, and as a query of a table."""

    text: str
    fluent: Callable[[Table], Any]


class Describer:
    """Questions from a seed."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def number(self, depth: int = 2) -> Pair:
        """A number with bounds, by declaration or by construction."""
        kind = self.pick.randrange(9 if depth else 2)
        if kind < 2:
            name = self.pick.choice(["age", "spend"])
            return self.pick.choice([name, f"v.{name}", f'"{name}"', name.upper()]), sf.col(name)
        text, expression = self.number(depth - 1)
        k = self.pick.randrange(1, 9)
        second = self.number(depth - 1) if kind == 4 else ("", expression)
        condition = self.condition(depth - 1) if kind == 8 else ("", expression)
        return {
            2: (f"({text} + {k})", expression + k),
            3: (f"({text} * {k})", expression * k),
            4: (f"({text} - {second[0]})", expression - second[1]),
            5: (f"ABS({text})", expression.abs()),
            6: (f"(-({text}))", -expression),
            7: (f"CLIP({text}, {k}, {k + 50})", expression.clip(k, k + 50)),
            8: (
                f"CASE WHEN {condition[0]} THEN {text} ELSE {k} END",
                when(condition[1], expression).otherwise(k),
            ),
        }[kind]

    def condition(self, depth: int = 2) -> Pair:
        kind = self.pick.randrange(13 if depth else 8)
        sign, name = self.pick.choice(
            [("=", "="), ("<>", "<>"), ("!=", "<>"), ("<", "<"), (">=", ">="), (">", ">")]
        )
        k = self.pick.randrange(100)
        city = self.pick.choice(["Roma", "L'Aquila", "Bari"])
        quoted = city.replace("'", "''")
        if kind < 8:
            c = sf.col
            return [
                (f"age {sign} {k}", call(name, c("age"), k)),
                (f"spend {sign} {k}.5", call(name, c("spend"), k + 0.5)),
                (f"city = '{quoted}'", c("city") == city),
                (f"city LIKE '{quoted[:1]}%'", c("city").like(f"{city[:1]}%")),
                ("note IS NOT NULL", c("note").not_null()),
                (f"age BETWEEN {k} AND {k + 9}", c("age").between(k, k + 9)),
                (f"city IN ('{quoted}', 'x')", c("city").is_in([city, "x"])),
                ("vip", c("vip")),
            ][kind]
        text, expression = self.condition(depth - 1)
        other_text, second = self.condition(depth - 1)
        c = sf.col
        return {
            8: (f"({text} AND {other_text})", expression & second),
            9: (f"({text} OR {other_text})", expression | second),
            10: (f"NOT ({text})", ~expression),
            11: ("spend IS NULL", c("spend").is_null()),
            12: (f"LOWER(note) || 'x' = '{quoted}'", c("note").lower().concat("x") == city),
        }[kind]

    def aggregate(self) -> tuple[str, Any]:
        text, of = self.number()
        second = "spend" if of.text == "age" else "age"  # a pair of one column is refused
        k = self.pick.randrange(10, 60)
        choices: list[tuple[str, Aggregate | Aggregates]] = [
            ("COUNT(*)", sf.count()),
            ("COUNT(spend)", sf.count("spend")),
            (f"SUM({text})", sf.sum(of)),
            (f"AVG({text})", sf.mean(of)),
            (f"mean({text})", sf.mean(of)),
            (f"VAR_POP({text})", sf.var(of)),
            (f"VARIANCE({text})", sf.var(of, sample=True)),
            (f"STDDEV({text})", sf.std(of, sample=True)),
            (f"COVAR_POP({text}, {second})", sf.covar(of, second)),
            (f"COVAR_SAMP({text}, {second})", sf.covar(of, second, sample=True)),
            (f"CORR({text}, {second})", sf.corr(of, second)),
            (f"REGR_SLOPE({second}, {text})", sf.regr_slope(second, of)),
            (f"REGR_INTERCEPT({text}, {second})", sf.regr_intercept(of, second)),
            (f"REGR_R2({text}, {second})", sf.regr_r2(of, second)),
            (f"REGR_COUNT({text}, {second})", sf.regr_count(of, second)),
            (f"REGR_AVGX({second}, {text})", sf.regr_avgx(second, of)),
            (f"REGR_AVGY({text}, {second})", sf.regr_avgy(of, second)),
            (f"STDDEV_POP({text})", sf.std(of)),
            (f"MEDIAN({text})", sf.median(of)),
            (f"QUANTILE({text}, 0.{k})", sf.quantile(of, f"0.{k}")),
            (f"PERCENTILE_CONT(0.{k}) WITHIN GROUP (ORDER BY {text})", sf.quantile(of, f"0.{k}")),
            (f"SUM(CLAMP(amount, 0, {k}))", sf.sum("amount", low=0, high=k)),
            (f"AVG(CLAMP(amount, -{k}, 0.5))", sf.mean("amount", low=-k, high=0.5)),
            (f"HISTOGRAM(age, [0, {k}, 100])", sf.histogram("age", edges=[0, k, 100])),
            (f"COUNT(DISTINCT {text})", sf.count_distinct(of)),
            (f"MIN({text})", sf.min(of)),
            (f"MAX(CLAMP(amount, 0, {k}))", sf.max("amount", low=0, high=k)),
            (f"RATIO({text}, age)", sf.ratio(of, "age")),
            (f"WEIGHTED_AVG({text}, age)", sf.mean(of, weight="age")),
            (f"SUM(age * ({text}))", sf.sum(of, weight="age")),
            (f"QUANTILES({text}, [0.05, 0.{k}])", sf.quantiles(of, ["0.05", f"0.{k}"])),
        ]
        built = choices[self.pick.randrange(20)]
        if self.pick.random() < 0.25:
            where_text, where = self.condition(1)
            return f"{built[0]} FILTER (WHERE {where_text})", built[1].filter(where)
        return built

    def key(self) -> tuple[str, str, Callable[[Any], Any]]:
        """Its SQL, its name, and how the rows get it."""
        return self.pick.choice(
            [
                ("city", "city", lambda rows: rows),
                ("vip", "vip", lambda rows: rows),
                (
                    "age // 10 AS decade",
                    "decade",
                    lambda rows: rows.mutate(decade=sf.col("age").div(10)),
                ),
                ("YEAR(day) AS year", "year", lambda rows: rows.mutate(year=sf.col("day").year())),
                (
                    "UPPER(note) AS loud",
                    "loud",
                    lambda rows: rows.mutate(loud=sf.col("note").upper()),
                ),
                (
                    "DATE_TRUNC('month', day) AS month",
                    "month",
                    lambda rows: rows.mutate(month=sf.col("day").date_trunc("month")),
                ),
            ]
        )

    def question(self) -> Question:
        """SELECT … FROM visits v [WHERE …] [GROUP BY …]."""
        aggregates = {f"a{i}": self.aggregate() for i in range(1 + self.pick.randrange(3))}
        if self.pick.random() < 0.2:
            aggregates["people"] = ("COUNT(DISTINCT user_id)", sf.count_units())
        where = self.condition(3) if self.pick.random() < 0.6 else None
        key = self.key() if self.pick.random() < 0.6 else None
        listed = [
            *([key[0]] if key else []),
            *(f"{text} AS {name}" for name, (text, _) in aggregates.items()),
        ]
        texts = f"SELECT {', '.join(listed)} FROM visits v" + (
            f" WHERE {where[0]}" if where else ""
        )
        if key:
            texts += (
                f" GROUP BY {self.pick.choice(['1', 'ALL', key[1], key[0].partition(' AS ')[0]])}"
            )
        nested = self.pick.random() < 0.2
        if nested:
            texts = texts.replace(
                "FROM visits v", "FROM (SELECT * FROM visits WHERE age > 1) AS v", 1
            )

        def fluent(table: Table) -> Any:
            rows: Any = table.rows.where(sf.col("age") > 1) if nested else table.rows
            rows = rows.where(where[1]) if where else rows
            rows = key[2](rows) if key else rows
            named = {name: aggregate for name, (_, aggregate) in aggregates.items()}
            return rows.group_by(key[1]).aggregate(**named) if key else rows.aggregate(**named)

        return Question(texts, fluent)
