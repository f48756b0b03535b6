"""The settings of a session: SET, SHOW and RESET, hints in comments, and the defaults that the
configuration has for a dataset and an analyst.

*Amount*   ε or an accuracy. A hint comes before SET, SET before the analyst's default, and that
           before the dataset's. What comes first counts alone.
*Client*   Settings that clients send at the start (DateStyle, search_path …) are kept and shown,
           and change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import wire_refusals as refusals

PREFIX = "sfumato."
OURS = ("epsilon", "within", "delta", "confidence", "intervals", "key")
AMOUNTS = ("epsilon", "within")
_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?(/[1-9][0-9]{0,29})?")
_KEY = re.compile(r"[A-Za-z0-9_-]{0,32}", re.ASCII)
_PAIR = re.compile(r"""\s*([A-Za-z_]+)\s*=\s*("[^"]*"|'[^']*'|[^\s,;"']+)\s*,?""")
_COLUMN = re.compile(r"\s*([^=,]{1,200}?)\s*[=:]\s*([^=,:]{1,60}?)\s*(?:,|$)")
_OPTION = re.compile(r"(?:-c\s*|--)([A-Za-z_][\w.]*)=((?:\\.|[^\s\\])*)")
SWITCHES = {"on": True, "true": True, "1": True, "yes": True, "off": False, "false": False,
            "0": False, "no": False}  # fmt: skip
USUAL = {
    "application_name": "",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "datestyle": "ISO, MDY",
    "default_tablespace": "",
    "default_transaction_deferrable": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "extra_float_digits": "1",
    "idle_in_transaction_session_timeout": "0",
    "in_hot_standby": "off",
    "integer_datetimes": "on",
    "intervalstyle": "postgres",
    "is_superuser": "off",
    "jit": "off",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_monetary": "C",
    "lock_timeout": "0",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "role": "none",
    "row_security": "on",
    "search_path": "public",
    "server_encoding": "UTF8",
    "server_version": "15.6",
    "server_version_num": "150006",
    "session_authorization": "",
    "ssl": "off",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "timezone": "UTC",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "work_mem": "4MB",
}
"""The settings of PostgreSQL that clients read or set, with their values here."""
FIXED = {
    "datestyle",
    "in_hot_standby",
    "integer_datetimes",
    "intervalstyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "server_version_num",
    "standard_conforming_strings",
    "timezone",
}
"""Settings whose value stays: answers are written in one form."""
REPORTED = {
    "application_name": "application_name",
    "client_encoding": "client_encoding",
    "datestyle": "DateStyle",
    "default_transaction_read_only": "default_transaction_read_only",
    "in_hot_standby": "in_hot_standby",
    "integer_datetimes": "integer_datetimes",
    "intervalstyle": "IntervalStyle",
    "is_superuser": "is_superuser",
    "server_encoding": "server_encoding",
    "server_version": "server_version",
    "session_authorization": "session_authorization",
    "standard_conforming_strings": "standard_conforming_strings",
    "timezone": "TimeZone",
}
"""The settings that a server reports, as PostgreSQL writes their names."""


class SessionSettings:
    """The settings of one connection."""

    def __init__(self, defaults: Mapping[str, str], user: str) -> None:
        self._defaults = dict(defaults)  # ours, of the configuration
        self._usual = {**USUAL, "session_authorization": user}
        self._set: dict[str, str] = {}

    def set(self, name: str, value: str | None) -> None:
        """Set a value; None is the default. Refuse a wrong one."""
        key = _normal(name)
        if value is None:
            self._set.pop(key, None)
        elif key.startswith(PREFIX):
            short = key.removeprefix(PREFIX)
            self._set[key] = check_ours(short, value)
            if short in AMOUNTS:  # the last one counts
                for other_amount in set(AMOUNTS) - {short}:
                    self._set.pop(PREFIX + other_amount, None)
        elif key == "client_encoding":
            if value.lower().replace("-", "") not in ("utf8", "unicode", "sql_ascii", "auto"):
                raise refusals.ENCODING_UNKNOWN()
        elif key not in FIXED:
            self._set[key] = value[:200]

    def set_options(self, options: str) -> None:
        """Set what the startup option `-c name=value` says, as PGOPTIONS writes it."""
        for name, value in _OPTION.findall(options):
            self.set(name, value.replace("\\ ", " "))

    def reset(self) -> None:
        """Return to the defaults."""
        self._set.clear()

    def show(self, name: str) -> str:
        key = _normal(name)
        if key.startswith(PREFIX):
            short = key.removeprefix(PREFIX)
            if short not in OURS:
                raise refusals.SETTING_UNKNOWN(name=key, names=", ".join(PREFIX + n for n in OURS))
            return self.ours().get(short, "off" if short == "intervals" else "")
        shown = self._set.get(key, self._usual.get(key))
        if shown is None:
            raise refusals.SETTING_UNKNOWN(name=key, names=", ".join(PREFIX + n for n in OURS))
        return shown

    def all(self) -> list[tuple[str, str]]:
        """Return the names and values of all settings, ours first."""
        usual = sorted({**self._usual, **self._set})
        names = [PREFIX + short for short in OURS]
        names += [name for name in usual if not name.startswith(PREFIX)]
        return [(name, self.show(name)) for name in names]

    def ours(self, hints: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return our settings for a statement; an amount replaces amounts that come later."""
        set_here = {name.removeprefix(PREFIX): value for name, value in self._set.items()
                    if name.startswith(PREFIX)}  # fmt: skip
        return merge_settings(self._defaults, set_here, hints or {})

    def allows_notices(self) -> bool:
        return self._set.get("client_min_messages", "notice").lower() not in (
            "warning",
            "error",
            "fatal",
            "panic",
        )


def merge_settings(*layers: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of all layers, the last first. An amount replaces the amounts of layers
    before it, also one of another name.
    """
    values: dict[str, str] = {}
    for layer in layers:
        if any(name in layer for name in AMOUNTS):
            for amount in AMOUNTS:
                values.pop(amount, None)
        values |= layer
    return values


def read_hints(hints: tuple[str, ...]) -> dict[str, str]:
    """Read the settings in comments: `/* sfumato: epsilon = 0.3 */`."""
    values: dict[str, str] = {}
    for hint in hints:
        at = 0
        while hint[at:].strip(" \t\r\n,;*"):
            pair = _PAIR.match(hint, at)
            if pair is None:
                raise refusals.HINT_WRONG()
            name = pair[1].lower()
            values[name] = check_ours(name, pair[2].strip("'\""))
            at = pair.end()
    return values


def check_ours(name: str, value: str) -> str:
    """Return the normal form of a value of one of our settings; refuse a wrong one."""
    text = value.strip()
    if name in ("epsilon", "delta", "confidence"):
        if not _NUMBER.fullmatch(text):
            raise refusals.SETTING_NOT_NUMBER(name=PREFIX + name)
    elif name == "within":
        read_within(text)
    elif name == "intervals":
        if text.lower() not in SWITCHES:
            raise refusals.SETTING_NOT_SWITCH(name=PREFIX + name)
        text = "on" if SWITCHES[text.lower()] else "off"
    elif name == "key":
        if not _KEY.fullmatch(text):
            raise refusals.SETTING_NOT_KEY(name=PREFIX + name)
    else:
        shown = ", ".join(PREFIX + short for short in OURS)
        raise refusals.SETTING_UNKNOWN(name=(PREFIX + name)[:60], names=shown)
    return text


def read_within(text: str) -> str | dict[str, str]:
    """Read an accuracy: a number, or `n = 25, m = 0.5`."""
    if _NUMBER.fullmatch(text):
        return text
    columns: dict[str, str] = {}
    at = 0
    while at < len(text):
        pair = _COLUMN.match(text, at)
        if pair is None or not _NUMBER.fullmatch(pair[2]) or len(columns) >= 100:
            raise refusals.SETTING_NOT_NUMBER(name=PREFIX + "within")
        columns[pair[1].strip('"')] = pair[2]
        at = pair.end()
    if not columns:
        raise refusals.SETTING_NOT_NUMBER(name=PREFIX + "within")
    return columns


def _normal(name: str) -> str:
    key = name.strip().strip('"').lower()
    return {"time zone": "timezone", "names": "client_encoding",
            "transaction isolation level": "transaction_isolation",
            "session characteristics as transaction isolation level":
            "default_transaction_isolation"}.get(key, key)  # fmt: skip
