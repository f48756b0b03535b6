"""One connection of the wire, from its first byte: startup, authentication, then statements.

*Order*    TLS, protocol, token, dataset. Before the token fits, nothing says what exists.
*Each*     statement counts for the rate of its token, and the token is checked again.
*Slow*     A client has a quarter of a minute to begin and for each message, and must read what it
           gets. A session that sends nothing for long is closed.
*Fixed*    Nothing here depends on data: answers come from `wire_questions`, at the fixed times of
           their deadline class, and what breaks has one constant text.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import time

from ...errors import Failed, Refused
from ..http.problems import DEADLINE, INTERNAL, RATE, Problem, ProblemError, problem_of
from ..roles import Asker
from . import portals, report_messages
from . import wire_messages as wire
from . import wire_refusals as refusals
from .connection_writer import ConnectionWriter
from .session_settings import REPORTED, SessionSettings
from .wire_commands import SessionCommands
from .wire_listener_state import WireState
from .wire_messages import MalformedError, MessageFields
from .wire_results import WireResult
from .wire_startup import EndedError, WireStartup
from .wire_statement_runner import Parameters, StatementRunner
from .wire_statements import WireStatement, split

IDLE = 3600.0  # seconds
log = logging.getLogger("sfumato.server")


class WireSession:
    """One connection."""

    def __init__(
        self, state: WireState, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._state, self._reader = state, reader
        self._out = ConnectionWriter(writer)
        self._names = portals.SessionNames()
        self._token = ""
        self._is_skipping = False  # until Sync, after an error
        self._secret: tuple[int, int] | None = None
        self.cancelled = asyncio.Event()

    async def run(self) -> None:
        """Serve the connection until it ends."""
        try:
            async with asyncio.timeout(wire.SECONDS):
                opening = WireStartup(self._state, self._reader, self._out)
                startup = await opening.negotiate()
                self._token, asker = await opening.authenticate(startup)
            await self._open(startup, asker)
            while True:
                await self._handle(*await self._next_message())
        except (EndedError, OSError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        except TimeoutError:
            pass
        except MalformedError:
            await self._end(Problem.of(refusals.MESSAGE_WRONG()))
        except (ProblemError, Refused) as stopped:
            problem = stopped.problem if isinstance(stopped, ProblemError) else problem_of(stopped)
            await self._end(problem)
        except Exception:
            # what was raised may quote the statement, or worse
            log.error("a session ended in an unexpected way")
            await self._end(INTERNAL)
        finally:
            if self._secret is not None:
                self._state.sessions.pop(self._secret, None)
            self._out.close()

    async def stop(self) -> None:
        """End the session because the service stops."""
        await self._end(Problem.of(refusals.SERVICE_STOPS()))
        self._out.close()

    async def _end(self, problem: Problem) -> None:
        try:
            self._out.add(report_messages.error(problem, fatal=True))
            async with asyncio.timeout(1):
                await self._out.flush()
        except (OSError, TimeoutError, EndedError):
            pass

    # Startup

    async def _open(self, startup: dict[str, str], asker: Asker) -> None:
        """Open the session on the dataset that the client names."""
        database = startup.get("database") or startup.get("user", "")
        served = self._state.visible(asker, database)
        if served is None:
            raise refusals.DATABASE_UNKNOWN()
        self._settings = SessionSettings(served.config.defaults_of(asker.name), asker.name)
        self._commands = SessionCommands(self._settings, self._names.forget)
        catalogue = await self._state.catalogue(served)
        self._runner = StatementRunner(
            self._state.questions, served, asker, self._commands, catalogue, self._names
        )
        for name, value in startup.items():
            if name == "options":
                self._settings.set_options(value)
            elif name not in ("user", "database", "replication") and name[:4] != "_pq_":
                self._settings.set(name, value)
        for key, shown in REPORTED.items():
            self._out.add(wire.parameter_status(shown, self._settings.show(key)))
        self._secret = self._state.register(self)
        self._out.add(wire.key_data(*self._secret) + wire.ready(b"I"))
        await self._out.flush()

    # Statements

    async def _next_message(self) -> tuple[bytes, MessageFields]:
        try:
            return await wire.read_message(self._reader, IDLE)
        except TimeoutError:
            raise refusals.IDLE_TOO_LONG(minutes=int(IDLE / 60)) from None

    async def _handle(self, kind: bytes, fields: MessageFields) -> None:
        if kind == b"X":
            raise EndedError
        if kind == b"S":
            fields.end()
            self._is_skipping = False
            await self._ready()
        elif kind == b"Q":
            await self._simple(fields)
        elif kind == b"H":
            await self._out.flush()
        elif kind in b"PBDEC" and len(kind) == 1:
            if not self._is_skipping:
                await self._extended(kind, fields)
        elif kind not in (b"d", b"c", b"f"):  # of a COPY that was refused
            raise MalformedError

    async def _ready(self) -> None:
        if not self._commands.in_transaction:
            self._names.portals.clear()
        self._out.add(wire.ready(b"T" if self._commands.in_transaction else b"I"))
        await self._out.flush()

    async def _simple(self, fields: MessageFields) -> None:
        """Answer a text of one or several statements."""
        sql = fields.text()
        fields.end()
        try:
            for statement in split(sql):
                await self._check_token()
                result = await self._cancellable(statement, ())
                await self._send(result)
        except Exception as stopped:
            self._report(stopped, sql)
        await self._ready()

    async def _extended(self, kind: bytes, fields: MessageFields) -> None:
        sql = ""
        try:
            match kind:
                case b"P":
                    portals.parse(fields, self._names)
                    self._out.add(wire.PARSED)
                case b"B":
                    portals.bind(fields, self._names)
                    self._out.add(wire.BOUND)
                case b"C":
                    what, name = fields.raw(1), fields.text()
                    fields.end()
                    if what not in (b"S", b"P"):
                        raise MalformedError
                    self._names.forget(what.decode(), name)
                    self._out.add(wire.CLOSED)
                case b"D":
                    what, name = fields.raw(1), fields.text()
                    fields.end()
                    sql = self._text_of(what, name)
                    await self._describe(what, name)
                case _:
                    name, most = fields.text(), fields.int32()
                    fields.end()
                    sql = self._text_of(b"P", name)
                    await self._execute(self._names.portal(name), most)
        except Exception as stopped:
            self._report(stopped, sql)
            self._is_skipping = True
        await self._out.flush_if_large()

    def _text_of(self, what: bytes, name: str) -> str:
        if what == b"S":
            return self._names.statement(name).statement.text
        if what == b"P":
            return self._names.portal(name).statement.text
        raise MalformedError

    async def _describe(self, what: bytes, name: str) -> None:
        """Say the types of parameters and columns. The plan knows them, and is free."""
        await self._check_token()
        if what == b"S":
            prepared = self._names.statement(name)
            self._out.add(wire.parameter_description(prepared.oids))
            values = [portals.example_value(oid) for oid in prepared.oids]
            columns = await self._runner.columns(prepared.statement, values)
            self._out.add(wire.NO_DATA if columns is None else portals.description(columns))
            return
        portal = self._names.portal(name)
        portal.columns = await self._runner.columns(portal.statement, portal.parameters)
        self._out.add(
            wire.NO_DATA if portal.columns is None else portals.description(portal.columns, portal)
        )

    async def _execute(self, portal: portals.Portal, most: int) -> None:
        if portal.result is None:
            await self._check_token()
            portal.result = await self._cancellable(portal.statement, portal.parameters)
            self._notify(portal.result)
        result = portal.result
        if not result.tag:
            self._out.add(wire.EMPTY)
            return
        rows = result.rows
        end = len(rows) if most <= 0 else min(len(rows), portal.sent + most)
        for row in rows[portal.sent : end]:
            self._out.add(portals.encoded_row(row, result.columns or (), portal))
            await self._out.flush_if_large()
        count, portal.sent = end - portal.sent, end
        if end < len(rows):
            self._out.add(wire.SUSPENDED)
        else:
            self._out.add(wire.complete(_tag(result, count)))

    async def _check_token(self) -> None:
        """Count a statement for the rate, and end the session if its token has ended."""
        row = await self._state.questions.curator.look(self._state.records.token, self._token)
        if row is None or row.revoked or row.expires <= time.time():
            await self._end(Problem.of(refusals.TOKEN_ENDED()))
            raise EndedError
        if not self._state.statements.allows(row.name):
            raise ProblemError(RATE)

    async def _cancellable(self, statement: WireStatement, parameters: Parameters) -> WireResult:
        """Run a statement until it ends or the client cancels it."""
        self.cancelled.clear()
        task = asyncio.create_task(self._runner.run(statement, parameters))
        waiting = asyncio.create_task(self.cancelled.wait())
        try:
            await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ProblemError(Problem.of(refusals.CANCELLED()))
            return await task
        finally:
            waiting.cancel()
            task.cancel()

    async def _send(self, result: WireResult) -> None:
        """Send a result of the simple protocol: all rows, in text."""
        self._notify(result)
        if not result.tag:
            self._out.add(wire.EMPTY)
            return
        if result.columns is not None:
            self._out.add(portals.description(result.columns))
            for row in result.rows:
                self._out.add(portals.encoded_row(row, result.columns))
                await self._out.flush_if_large()
        self._out.add(wire.complete(_tag(result, len(result.rows))))

    def _notify(self, result: WireResult) -> None:
        if self._settings.allows_notices():
            for sentence, detail in result.notices:
                self._out.add(report_messages.notice(sentence, detail))

    def _report(self, stopped: Exception, sql: str) -> None:
        """Report why a statement has no result. What broke unexpectedly has one constant text."""
        match stopped:
            case EndedError() | OSError() | MalformedError():
                raise stopped
            case ProblemError():
                problem = stopped.problem
            case Refused():
                problem = problem_of(stopped)
            case Failed():
                problem = DEADLINE
            case _:
                # what was raised may quote the statement, or worse
                log.error("a statement ended in an unexpected way")
                problem = INTERNAL
        self._out.add(report_messages.error(problem, query=sql))


def _tag(result: WireResult, count: int) -> str:
    return f"{result.tag} {count}" if result.tag in ("SELECT", "FETCH") else result.tag
