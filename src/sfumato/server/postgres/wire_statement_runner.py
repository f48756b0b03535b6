"""Run the statements of a session: questions, plans, catalogue, commands."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..datasets import Served
from ..http.request_models import Question
from ..roles import Asker
from . import wire_cursors
from .dataset_catalogue import Catalogue, session_answers
from .portals import Portal, SessionNames
from .session_settings import read_hints
from .wire_commands import SessionCommands
from .wire_questions import WireQuestions, WireRelease, build_question, cost_sentences
from .wire_results import WireColumn, WireResult, shown_columns
from .wire_statements import WireStatement, kind_of, question_text, split
from .wire_types import JSON_, TEXT, Cell, Parameter

PLAN = "QUERY PLAN"
_EXPLAIN_WORDS = {"explain", "privacy", "analyze", "analyse", "verbose"}
Parameters = Sequence[Parameter | list[Parameter]]


class StatementRunner:
    """Describes and runs the statements of one session."""

    def __init__(
        self,
        questions: WireQuestions,
        served: Served,
        asker: Asker,
        commands: SessionCommands,
        catalogue: Catalogue,
        names: SessionNames,
    ) -> None:
        self._names = names
        self.served, self.asker, self.commands = served, asker, commands
        self._questions, self._catalogue = questions, catalogue
        self._tables = catalogue.protected
        self._answers = session_answers(asker.name, served.name, commands.settings.show)

    async def columns(
        self, statement: WireStatement, parameters: Parameters
    ) -> tuple[WireColumn, ...] | None:
        """Return the columns that a statement gives; None if it gives none. Charges nothing."""
        match kind_of(statement, self._tables):
            case "question":
                question, values = self._question(statement, parameters)
                return await self._question_columns(statement, question, values)
            case "explain":
                return (WireColumn(PLAN, _plan_type(statement)),)
            case "catalog":
                described = await self._look_up(statement, parameters, only_columns=True)
                return described.columns
            case "command" if statement.verb in ("fetch", "move"):
                return wire_cursors.cursor_of(statement, self._names).columns
            case "command":
                return self.commands.columns(statement)
        return None

    async def run(self, statement: WireStatement, parameters: Parameters) -> WireResult:
        """Run a statement. A question is charged, unless its answer is stored."""
        match kind_of(statement, self._tables):
            case "question":
                return await self._ask(statement, parameters)
            case "explain":
                return await self._explain(statement, parameters)
            case "catalog":
                return await self._look_up(statement, parameters)
            case "command" if statement.verb == "declare":
                return await self._declare(statement, parameters)
            case "command" if statement.verb in ("fetch", "move"):
                return wire_cursors.fetch(statement, self._names)
            case "command":
                return self.commands.run(statement)
        return WireResult(tag="")

    async def _declare(self, statement: WireStatement, parameters: Parameters) -> WireResult:
        """Run the statement of a cursor, and keep its rows."""
        name, inner = wire_cursors.declared(statement)
        result = await self.run(inner, parameters)
        self._names.portals[name] = Portal(inner, parameters, columns=result.columns, result=result)
        return WireResult(tag="DECLARE CURSOR", notices=result.notices)

    async def _look_up(
        self, statement: WireStatement, parameters: Parameters, *, only_columns: bool = False
    ) -> WireResult:
        """Ask the catalogue. Its processor time counts with that for planning."""
        plans, who = self._questions.curator.plans, self.asker.name
        plans.check_allowance(who)
        return await self._catalogue.run(
            statement,
            parameters,
            self._answers,
            count=lambda seconds: plans.count_time(who, seconds),
            only_columns=only_columns,
        )

    def _question(
        self, statement: WireStatement, parameters: Parameters
    ) -> tuple[Question, dict[str, str]]:
        values = self.commands.settings.ours(read_hints(statement.hints))
        sql = question_text(statement, self.served.name)
        plain = [value for value in parameters if not isinstance(value, list)]
        return build_question(sql, values, plain), values

    async def _question_columns(
        self, statement: WireStatement, question: Question, values: dict[str, str]
    ) -> tuple[WireColumn, ...]:
        served = self._questions.dataset(self.asker, self.served.name)
        planned = await self._questions.plan(served, self.asker, question)
        intervals = values.get("intervals") == "on"
        return shown_columns(statement, planned.columns, intervals=intervals)

    async def _ask(self, statement: WireStatement, parameters: Parameters) -> WireResult:
        question, values = self._question(statement, parameters)
        columns = await self._question_columns(statement, question, values)
        release = await self._questions.release(
            self.served, self.asker, question, values.get("key", "")
        )
        self.commands.has_charged = self.commands.has_charged or not release.is_stored
        rows = _rows(release, columns)
        return WireResult(
            tag="SELECT", columns=columns, rows=rows, notices=(cost_sentences(release),)
        )

    async def _explain(self, statement: WireStatement, parameters: Parameters) -> WireResult:
        inner = _explained(statement)
        kind = _plan_type(statement)
        columns = (WireColumn(PLAN, kind),)
        if kind_of(inner, self._tables) != "question":
            lines = ["The catalogue answers this: it holds the declared schema and no data."]
        else:
            question, _ = self._question(inner, parameters)
            served = self._questions.dataset(self.asker, self.served.name)
            content = await self._questions.explain(served, self.asker, question)
            if kind == JSON_:
                return WireResult(
                    tag="EXPLAIN", columns=columns, rows=[(json.dumps([{"Plan": content}]),)]
                )
            explained = content["explained"]
            lines = [str(line) for line in explained] if isinstance(explained, list) else []
            lines.append(
                "paid    the answer is stored and paid for: asking again is free"
                if content["paid"]
                else "budget  this fits what is left"
                if content["affordable"]
                else "budget  this does not fit what is left"
            )
        return WireResult(tag="EXPLAIN", columns=columns, rows=[(line,) for line in lines])


def _explained(statement: WireStatement) -> WireStatement:
    """Return the statement after EXPLAIN and its options."""
    words = list(statement.words)
    i = 0
    while i < len(words) and words[i].name in _EXPLAIN_WORDS:
        i += 1
        if (
            i < len(words)
            and words[i].text == "("
            and words[i + 1 :][:1]
            and (words[i + 1].name not in ("select", "with", "("))
        ):
            i = next((j for j in range(i, len(words)) if words[j].text == ")"), len(words)) + 1
    text = statement.text[words[i].at :] if i < len(words) else ""
    return WireStatement(text, split(text)[0].words, statement.hints)


def _plan_type(statement: WireStatement) -> int:
    names = [word.name for word in statement.words[:8]]
    return JSON_ if "format" in names and "json" in names else TEXT


def _rows(release: WireRelease, columns: tuple[WireColumn, ...]) -> list[tuple[Cell, ...]]:
    """Return the rows of an answer with these columns."""
    table = release.content["table"]
    rows = table["rows"] if isinstance(table, dict) else []
    return [tuple(row.get(column.name) for column in columns) for row in rows]
