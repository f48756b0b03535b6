"""The commands of a session that are no questions: settings, transactions, what to forget.

Transactions are accepted and change nothing: a charge is durable when it is made, and a ROLLBACK
says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..http.problems import Problem, ProblemError
from . import wire_refusals as refusals
from .session_settings import SessionSettings
from .wire_results import WireColumn, WireResult
from .wire_statements import WireStatement

ROLLED_BACK = (
    "a charge is never rolled back",
    "the answers of this transaction were told, so what they cost stays charged",
)
_SET = re.compile(
    r"""set\s+(?:(?:session|local)\s+)?(?P<name>"?[\w.]+"?)\s*(?:=|\bto\b)\s*(?P<value>.+)""",
    re.IGNORECASE | re.DOTALL,
)
_TIME_ZONE = re.compile(
    r"set\s+(?:(?:session|local)\s+)?time\s+zone\s+(.+)", re.IGNORECASE | re.DOTALL
)
_NAMES = re.compile(r"set\s+names\s+(.+)", re.IGNORECASE | re.DOTALL)
_NO_EFFECT = re.compile(
    r"set\s+(?:(?:session|local)\s+)?(?:transaction\b|session\s+characteristics\b|role\b"
    r"|session\s+authorization\b|constraints\b)",
    re.IGNORECASE,
)
_SHOW = re.compile(r'show\s+(?:session\s+)?("?[\w.]+"?|time\s+zone|transaction\s+isolation\s+level)'
                   r"\s*", re.IGNORECASE)  # fmt: skip
_RESET = re.compile(r'reset\s+("?[\w.]+"?|time\s+zone)\s*', re.IGNORECASE)
_NAMED = re.compile(r'(?:deallocate(?:\s+prepare)?|close)\s+("(?:[^"]|"")+"|\w+)\s*', re.IGNORECASE)
_TEXT = re.compile(r"\s*'((?:[^']|'')*)'\s*|\s*\"?([^,'\"]*?)\"?\s*")


class SessionCommands:
    """Runs the commands of one session. `forget` closes a prepared statement or portal by its kind
    and name; no name is all.
    """

    def __init__(
        self, settings: SessionSettings, forget: Callable[[str, str | None], bool]
    ) -> None:
        self.settings = settings
        self.in_transaction = False
        self.has_charged = False  # in this transaction
        self._forget = forget

    def columns(self, statement: WireStatement) -> tuple[WireColumn, ...] | None:
        """Return the columns that a command gives, without running it."""
        if statement.verb != "show":
            return None
        name = self._shown_name(statement)
        if name == "all":
            return tuple(map(WireColumn, ("name", "setting", "description")))
        return (WireColumn(name),)

    def run(self, statement: WireStatement) -> WireResult:
        """Run a command, or refuse it."""
        match statement.verb:
            case "set":
                return self._set(statement)
            case "show":
                return self._show(statement)
            case "reset":
                return self._reset(statement)
            case "begin" | "start":
                self.in_transaction, self.has_charged = True, False
                return WireResult(tag="BEGIN" if statement.verb == "begin" else
                                       "START TRANSACTION")  # fmt: skip
            case "commit" | "end":
                self.in_transaction = False
                return WireResult(tag="COMMIT")
            case "rollback" | "abort":
                return self._roll_back(statement)
            case "savepoint" | "release":
                return WireResult(tag=statement.verb.upper())
            case "discard":
                self.settings.reset()
                self._forget("S", None)
                self._forget("P", None)
                return WireResult(tag="DISCARD ALL")
            case "deallocate" | "close":
                return self._close(statement)
            case "unlisten":
                return WireResult(tag="UNLISTEN")
        raise refusals.STATEMENT_UNKNOWN(verb=statement.verb.upper() or statement.text.strip())

    def _set(self, statement: WireStatement) -> WireResult:
        text = statement.text.strip()
        if zone := _TIME_ZONE.fullmatch(text):
            self.settings.set("timezone", _value(zone[1]))
        elif names := _NAMES.fullmatch(text):
            self.settings.set("client_encoding", _value(names[1]))
        elif _NO_EFFECT.match(text):
            pass
        elif pair := _SET.fullmatch(text):
            value = _value(pair["value"])
            is_default = value is not None and pair["value"].strip().lower() == "default"
            self.settings.set(pair["name"], None if is_default else value)
        else:
            raise refusals.COMMAND_WRONG(verb="SET", form="SET sfumato.epsilon = 0.1")
        return WireResult(tag="SET")

    def _shown_name(self, statement: WireStatement) -> str:
        shown = _SHOW.fullmatch(statement.text.strip())
        if shown is None:
            raise refusals.COMMAND_WRONG(verb="SHOW", form="SHOW sfumato.epsilon")
        return " ".join(shown[1].strip('"').lower().split()).replace(
            "transaction isolation level", "transaction_isolation"
        )

    def _show(self, statement: WireStatement) -> WireResult:
        columns, name = self.columns(statement), self._shown_name(statement)
        rows = (
            [(key, value, "") for key, value in self.settings.all()]
            if name == "all"
            else [(self.settings.show(name),)]
        )
        return WireResult(tag="SHOW", columns=columns, rows=rows)

    def _reset(self, statement: WireStatement) -> WireResult:
        name = _RESET.fullmatch(statement.text.strip())
        if name is None:
            raise refusals.COMMAND_WRONG(verb="RESET", form="RESET sfumato.epsilon")
        if name[1].lower() == "all":
            self.settings.reset()
        else:
            self.settings.set(name[1], None)
        return WireResult(tag="RESET")

    def _roll_back(self, statement: WireStatement) -> WireResult:
        is_partial = "to" in [word.name for word in statement.words]
        notices = (ROLLED_BACK,) if self.has_charged else ()
        if not is_partial:
            self.in_transaction = self.has_charged = False
        return WireResult(tag="ROLLBACK", notices=notices)

    def _close(self, statement: WireStatement) -> WireResult:
        is_portal = statement.verb == "close"
        form = "CLOSE ALL" if is_portal else "DEALLOCATE ALL"
        named = _NAMED.fullmatch(statement.text.strip())
        if named is None:
            raise refusals.COMMAND_WRONG(verb=statement.verb.upper(), form=form)
        word = named[1]
        name = word[1:-1].replace('""', '"') if word.startswith('"') else word.lower()
        is_all = word.lower() == "all"
        if not self._forget("P" if is_portal else "S", None if is_all else name):
            raise ProblemError(Problem.of(refusals.NAME_UNKNOWN(what=f"{form.split()[0]} {name}")))
        tag = f"{'CLOSE CURSOR' if is_portal else 'DEALLOCATE'}{' ALL' if is_all else ''}"
        return WireResult(tag=tag)


def _value(text: str) -> str:
    """Return the value that SET writes, without its quotes."""
    parts = [match[1].replace("''", "'") if match[1] is not None else match[2] or ""
             for match in map(_TEXT.fullmatch, _split(text)) if match]  # fmt: skip
    return ", ".join(parts)


def _split(text: str) -> list[str]:
    """Split a list at its commas, unless it is a quoted text."""
    return [text] if text.strip().startswith("'") else text.split(",")
