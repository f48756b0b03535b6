"""The start of a connection: TLS, the version of the protocol, and the proof of a token."""

from __future__ import annotations

import asyncio
import time

from ..roles import Asker
from ..tokens import asker_of
from . import scram
from . import wire_messages as wire
from . import wire_refusals as refusals
from .connection_writer import ConnectionWriter
from .wire_listener_state import WireState
from .wire_messages import MalformedError, MessageFields


class EndedError(Exception):
    """The connection ends; what had to be said is said."""


class WireStartup:
    """The startup of one connection."""

    def __init__(
        self, state: WireState, reader: asyncio.StreamReader, out: ConnectionWriter
    ) -> None:
        self._state, self._reader, self._out = state, reader, out

    async def negotiate(self) -> dict[str, str]:
        """Return the parameters of the startup message, after TLS if the client wants it."""
        is_encrypted = False
        for _ in range(3):
            fields = await wire.read_startup(self._reader)
            code = fields.int32()
            if code == wire.CANCEL:
                self._state.cancel(fields.int32() & 0xFFFFFFFF, fields.int32() & 0xFFFFFFFF)
                raise EndedError
            if code == wire.TLS and self._state.tls is not None and not is_encrypted:
                await self._out.start_tls(self._state.tls, self._reader)
                is_encrypted = True
            elif code in (wire.TLS, wire.GSS):
                await self._out.send(b"N")
            else:
                return await self._parameters(code, fields, is_encrypted=is_encrypted)
        raise MalformedError

    async def _parameters(
        self, code: int, fields: MessageFields, *, is_encrypted: bool
    ) -> dict[str, str]:
        if code >> 16 != wire.PROTOCOL:
            raise refusals.VERSION_UNKNOWN()
        if self._state.tls is not None and not is_encrypted:
            raise refusals.TLS_NEEDED()
        parameters: dict[str, str] = {}
        while name := fields.text():
            parameters[name] = fields.text()
        fields.end()
        options = [name for name in parameters if name.startswith("_pq_.")]
        if code & 0xFFFF or options:
            self._out.add(wire.negotiation(options))
        return parameters

    async def authenticate(self, startup: dict[str, str]) -> tuple[str, Asker]:
        """Return the id and the holder of the token that the client proves."""
        name = startup.get("user", "")
        exchange = scram.ScramExchange(name)
        try:
            mechanisms = wire.text(scram.MECHANISM) + b"\0"
            await self._out.send(wire.authentication(10, mechanisms))
            fields = await self._password_message()
            if fields.text() != scram.MECHANISM:
                raise scram.ScramError
            first = fields.cell()
            fields.end()
            reply = exchange.first(first or b"")
            await self._out.send(wire.authentication(11, reply))
            last = (await self._password_message()).rest()
            look = self._state.questions.curator.look
            held = await look(self._state.records.verifiers, name, time.time())
            fitting = exchange.final(last, [verifier for _, verifier in held])
        except (scram.ScramError, UnicodeError):
            raise refusals.PASSWORD_WRONG() from None
        if fitting is None:
            raise refusals.PASSWORD_WRONG()
        place, signature = fitting
        self._out.add(wire.authentication(12, signature) + wire.AUTHENTICATED)
        row = held[place][0]
        return row.id, asker_of(row)

    async def _password_message(self) -> MessageFields:
        kind, fields = await wire.read_message(self._reader, wire.SECONDS)
        if kind != b"p":
            raise MalformedError
        return fields
