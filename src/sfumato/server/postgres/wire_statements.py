"""Split what a client sends into statements, and say of which kind each is.

*Linear*   One pass over the characters finds texts, quoted names and comments. No parser runs here.
*Tables*   A SELECT asks about the data unless every table that it names is of the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["empty", "question", "explain", "catalog", "command"]

_WORD = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<text>[eE]?'(?:[^']|'')*(?:'|\Z))
    |(?P<dollar>\$(?P<tag>[A-Za-z_]*)\$.*?(?:\$(?P=tag)\$|\Z))
    |(?P<name>"(?:[^"]|"")*(?:"|\Z)|[^\W\d]\w*)
    |(?P<number>[0-9]+)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_HINT = re.compile(r"(?:--|/\*\+?)\s*sfumato\b[:.]?(.*?)(?:\*/)?\Z", re.DOTALL | re.IGNORECASE)
_AFTER_FROM = {"from", "join"}
_ENDS_FROM = {"where", "group", "order", "having", "limit", "on", "using", "select", "union"}
_SYSTEM = {"pg_catalog", "information_schema"}
_QUERIES = {"select", "with", "from", "values", "table"}
PUBLIC = "public"
CASTS = {
    "bigint": 20, "bool": 16, "boolean": 16, "character varying": 1043, "date": 1082,
    "double precision": 701, "float8": 701, "int": 23, "int2": 21, "int4": 23, "int8": 20,
    "integer": 23, "numeric": 1700, "real": 700, "smallint": 21, "text": 25, "timestamp": 1114,
    "timestamp without time zone": 1114, "timestamp with time zone": 1184, "timestamptz": 1184,
    "uuid": 2950, "varchar": 1043,
}  # fmt: skip
"""The types that a cast of a parameter may name, and their numbers."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: its kind, its characters, and where it begins."""

    kind: str
    text: str
    at: int

    @property
    def name(self) -> str:
        """The name that this word writes, in lower case unless it is quoted; "" for others."""
        if self.kind != "name":
            return ""
        if self.text.startswith('"'):
            return self.text[1:].removesuffix('"').replace('""', '"')
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class WireStatement:
    """A statement: its text, its words without space, and the hints in its comments."""

    text: str
    words: tuple[Word, ...]
    hints: tuple[str, ...]

    @property
    def verb(self) -> str:
        """The first word, in lower case."""
        for word in self.words:
            if word.text != "(":
                return word.name
        return ""


def split(sql: str) -> list[WireStatement]:
    """Return the statements of a text; none of them is empty unless all are."""
    statements, words, hints, start = list[WireStatement](), list[Word](), list[str](), 0
    for word in read_words(sql):
        if word.kind == "sign" and word.text == ";":
            if words:
                statement = sql[start : word.at]
                statements.append(WireStatement(statement, tuple(words), tuple(hints)))
            words, hints, start = [], [], word.at + 1
        elif word.kind == "comment":
            hints += [hint[1] for hint in [_HINT.match(word.text)] if hint]
        else:
            words.append(Word(word.kind, word.text, word.at - start))
    if words or not statements:
        statements.append(WireStatement(sql[start:], tuple(words), tuple(hints)))
    return statements


def read_words(sql: str) -> Iterator[Word]:
    """Return the words of a text, with comments and without space."""
    for part in _WORD.finditer(sql):
        kind = part.lastgroup or "sign"
        if kind != "space":
            yield Word(kind, part[0], part.start())


def kind_of(statement: WireStatement, tables: Collection[str]) -> Kind:
    """Return the kind of a statement, given the names of the dataset's tables."""
    verb = statement.verb
    if not statement.words:
        return "empty"
    if verb == "explain":
        return "explain"
    if verb not in _QUERIES:
        return "command"
    lowered = {name.lower() for name in tables}
    common = set(_common_tables(statement.words))
    system = foreign = False
    for path in table_paths(statement.words):
        if path[-1].lower() in lowered and not _SYSTEM.intersection(path[:-1]):
            return "question"
        if path[0] in common and len(path) == 1:
            continue
        if _SYSTEM.intersection(path) or path[-1].lower().startswith("pg_"):
            system = True
        else:
            foreign = True
    return "question" if foreign and not system else "catalog"


def table_paths(words: tuple[Word, ...]) -> Iterator[tuple[str, ...]]:
    """Return the names after FROM and JOIN, with the schemas before them. Calls are left out."""
    inside, i = False, 0
    expects = False
    while i < len(words):
        word = words[i]
        name = word.name if not word.text.startswith('"') else ""
        if name in _AFTER_FROM:
            inside = expects = True
        elif name in _ENDS_FROM:
            inside = expects = False
        elif inside and word.text == ",":
            expects = True
        elif (expects and word.text == "(") or name in ("lateral", "only"):
            pass
        elif expects and word.kind == "name":
            path = [word.name]
            while i + 2 < len(words) and words[i + 1].text == "." and words[i + 2].kind == "name":
                path.append(words[i + 2].name)
                i += 2
            if i + 1 >= len(words) or words[i + 1].text != "(":
                yield tuple(path)
            expects = False
        else:
            expects = False
        i += 1


def _common_tables(words: tuple[Word, ...]) -> Iterator[str]:
    """Return the names that WITH defines."""
    if words[0].name != "with":
        return
    for i, word in enumerate(words[:-2]):
        follows = [later.name or later.text for later in words[i + 1 : i + 4]]
        if word.kind == "name" and (
            follows[:2] == ["as", "("] or follows[:3] == ["as", "materialized", "("]
        ):
            yield word.name


def question_text(statement: WireStatement, dataset: str) -> str:
    """Return the text of a question for our reader of SQL: without comments, without the schema
    before names, and with one space for any other. The same question has the same text.
    """
    words = statement.words
    casts = [place for cast in parameter_casts(words) for place in cast.places]
    left_out = {*_schema_words(words, dataset), *casts}
    parts, end = list[str](), -1
    for i, word in enumerate(words):
        if i in left_out:
            continue
        is_joined = end == word.at or not parts or i - 1 in left_out
        gap = "" if is_joined and not (i - 1 in left_out and _has_gap(words, i)) else " "
        parts.append(gap + word.text)
        end = word.at + len(word.text)
    return "".join(parts)


class ParameterCast(NamedTuple):
    """A cast of a parameter, `$1::integer`: the parameter's number, the type, and the places of the
    words of the cast.
    """

    number: int
    type: str
    places: range


def parameter_casts(words: tuple[Word, ...]) -> Iterator[ParameterCast]:
    """Return the casts of parameters to the types that parameters have. Drivers write them to say a
    type; the value has it already.
    """
    for i in range(len(words) - 4):
        head = [word.text for word in words[i : i + 4]]
        if head[0] == "$" and words[i + 1].kind == "number" and head[2:] == [":", ":"]:
            names = [word.name for word in words[i + 4 : i + 8]]
            for size in (4, 2, 1):
                if (name := " ".join(names[:size])) in CASTS:
                    yield ParameterCast(int(head[1][:6]), name, range(i + 2, i + 4 + size))
                    break


def _has_gap(words: tuple[Word, ...], i: int) -> bool:
    """Tell whether space stands before the dotted name that ends with a word."""
    while i >= 2 and words[i - 1].text == ".":
        i -= 2
    return i > 0 and words[i - 1].at + len(words[i - 1].text) < words[i].at


def _schema_words(words: tuple[Word, ...], dataset: str) -> Iterator[int]:
    """Return the places of `public.` and `dataset.public.` before names."""
    i = 0
    while i + 2 < len(words):
        names = [words[i].name]
        if words[i + 1].text == "." and words[i + 2].kind == "name":
            if i > 0 and words[i - 1].text == ".":
                i += 2
                continue
            if names[0] == dataset and words[i + 2].name == PUBLIC:
                if i + 4 < len(words) and words[i + 3].text == ".":
                    yield from range(i, i + 4)
                    i += 4
                    continue
            elif names[0] == PUBLIC:
                yield from (i, i + 1)
                i += 2
                continue
        i += 1
