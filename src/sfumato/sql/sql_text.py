"""Parse a text with sqlglot, and find places in it: every refusal shows the analyst's own words
with a mark under the part that it refuses.

*Limits*   Length, words and brackets are counted before parsing, nodes while parsing. So no text is
           slow, however it nests.
*Nothing*  of the text ever reaches an engine: this package reads the tree node by node against
           tables of allowed constructs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, overload

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ..answers.render.tabulate import display_width, printable
from ..errors import RefusalText, Refused
from ..exact import effort
from ..tables.aggregates import KINDS
from ..tables.expr.scalar_function import shorten
from . import sql_refusals as refusals
from .catalog_statements import described_table
from .codes import SQL_CODES

LONGEST = 20_000
WORDS = 6_000
BRACKETS = 24
NODES_PER_WORD = 40  # an ordinary text makes fewer than five for each word
LOOKS_PER_WORD = 400  # an ordinary text is looked at fewer than twenty times for each word
SHOWN = 100
RESTED = 30  # of a long line, so many characters stand before what is marked

Node = exp.Expression
Passed = Any  # arguments of sqlglot's own methods, handed on as they are
Span = tuple[int, int]
"""The first character, and one beyond the last."""

EXPLAIN = re.compile(
    r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*EXPLAIN(?:\s+PRIVACY)?\b", re.IGNORECASE | re.DOTALL
)
_OPENS = {
    TokenType.L_PAREN: TokenType.R_PAREN,
    TokenType.L_BRACKET: TokenType.R_BRACKET,
    TokenType.L_BRACE: TokenType.R_BRACE,
}
_CLOSES = set(_OPENS.values())
_FIRST = (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN)
_KNOWN = {code for code, _ in SQL_CODES}
_SIGNS = "\t\n\r"


class _TooLarge(Exception):
    """The parser made more nodes than a text of this length may have."""


class _Endless(Exception):
    """The parser loops."""


_PAIRS = {
    name.upper()
    for kind in KINDS.values()
    for call in kind.calls
    if call.shape == "pair"
    for name in call.names
}
_FUNCTIONS = {name: build for name, build in DuckDB.Parser.FUNCTIONS.items() if name not in _PAIRS}


class _GuardedParser(DuckDB.Parser):
    """sqlglot's parser with limits. sqlglot tries some constructs twice, which is exponential when
    nested, and can look at the same word for ever. It does not count the columns of aggregates of
    two columns, so that our own refusal says what is missing.
    """

    FUNCTIONS = _FUNCTIONS
    left = 0
    looks = 0

    def __init__(self, **named: Passed) -> None:
        super().__init__(**named)
        look = self._match

        def match(*args: Passed, **named: Passed) -> bool:
            self.looks -= 1
            if self.looks < 0:
                raise _Endless
            return bool(look(*args, **named))

        self._match = match  # which sqlglot keeps with each parser, not in the class

    def expression(self, *args: Passed, **named: Passed) -> Passed:
        effort.check()
        self.left -= 1
        if self.left < 0:
            raise _TooLarge
        return super().expression(*args, **named)


@dataclass(frozen=True, slots=True, eq=False)
class SqlText:
    """A text and its words (tokens)."""

    text: str
    words: tuple[Token, ...] = field(repr=False)
    example: str  # a question that would be answered

    @classmethod
    def of(cls, text: str, example: str) -> SqlText:
        """Split a text into words. Refuse a text that is too long or has unprintable characters."""
        if not isinstance(text, str):
            raise refusals.NOT_TEXT(type=type(text).__name__, example=example)
        if len(text) > LONGEST:
            raise refusals.TEXT_TOO_LONG(count=len(text), most=LONGEST)
        odd = next((c for c in text if not (c.isprintable() or c in _SIGNS)), None)
        if odd is not None:
            raise refusals.UNPRINTABLE_CHARACTER(
                character=ord(odd), corrected=_printable_text(text) or example
            )
        explain = EXPLAIN.match(text)
        plain = " " * explain.end() + text[explain.end() :] if explain else text
        try:
            words = tuple(DuckDB().tokenize(plain))
        except SqlglotError:
            raise cls(text, (), example).refuse(refusals.UNTERMINATED, None) from None
        source = cls(text, words, example)
        source._check()
        return source

    def _check(self) -> None:
        if not self.words:
            raise refusals.EMPTY_TEXT(example=self.example)
        if len(self.words) > WORDS:
            raise self.refuse(refusals.TOO_MANY_WORDS, None, most=WORDS, count=len(self.words))
        depth = 0
        for i, word in enumerate(self.words):
            depth += (word.token_type in _OPENS) - (word.token_type in _CLOSES)
            if depth > BRACKETS:
                raise self.refuse(refusals.BRACKETS_TOO_DEEP, _at(word), most=BRACKETS)
            if word.token_type == TokenType.SEMICOLON and any(
                later.token_type != TokenType.SEMICOLON for later in self.words[i:]
            ):
                raise self.refuse(
                    refusals.SECOND_STATEMENT,
                    _at(word),
                    corrected=" ".join(self.text[: word.start].split()) or self.example,
                )

    def tree(self) -> exp.Expression:
        """Parse the statement."""
        first = self.words[0]
        if described_table(self.text) is not None:
            raise self.refuse(refusals.DECLARATION_ASKED, _at(first))
        if first.token_type not in _FIRST:
            raise self.refuse(refusals.NOT_A_SELECT, _at(first))
        statement = self._parse(None)
        if isinstance(statement, exp.SetOperation):
            raise self.refuse(refusals.SET_OPERATION, statement)
        return statement

    def condition(self) -> exp.Expression:
        """Parse an expression."""
        return self._parse(exp.Condition)

    def _parse(self, into: type[exp.Condition] | None) -> exp.Expression:
        parser = _GuardedParser(dialect=DuckDB())
        parser.left = NODES_PER_WORD * len(self.words) + 100
        parser.looks = LOOKS_PER_WORD * len(self.words) + 1000
        words = [word for word in self.words if word.token_type != TokenType.SEMICOLON]
        try:
            trees = (
                parser.parse(words, self.text)
                if into is None
                else parser.parse_into(into, words, self.text)
            )
        except (_TooLarge, RecursionError):
            raise self.refuse(refusals.NESTED_TOO_DEEPLY, None) from None
        except SqlglotError as error:
            raise self._syntax(error) from None
        except Refused:  # the limit on effort
            raise
        except Exception:  # sqlglot does not promise to fail in its own way
            raise self.refuse(refusals.UNREADABLE, None) from None
        tree = trees[0] if len(trees) == 1 else None
        if not isinstance(tree, exp.Expression):
            raise self.refuse(refusals.UNREADABLE, None)
        return tree

    def _syntax(self, error: SqlglotError) -> Refused:
        """Return the refusal at the place where the parser stopped, without the parser's words."""
        details = (getattr(error, "errors", None) or [{}])[0]
        line, column = details.get("line"), details.get("col")
        word = next((word for word in self.words if (word.line, word.col) == (line, column)), None)
        return self.refuse(refusals.UNREADABLE, None if word is None else _at(word))

    def span(self, node: exp.Expression | None) -> Span:
        """Return the first and last character of a node in the text; its parent's if the node has
        no position.
        """
        while node is not None:
            ends = [
                (part.meta["start"], part.meta["end"])
                for part in node.walk()
                if "start" in part.meta
            ]
            if ends:
                first, last = min(start for start, _ in ends), max(end for _, end in ends)
                if isinstance(node, exp.Cast) and (end := self._end_of_cast(last)) is not None:
                    return self._balanced(first, end, call=False)
                if isinstance(node, exp.Func) and "start" not in node.meta:
                    first = self._name_before(first)
                return self._balanced(first, last, call=isinstance(node, exp.Func))
            node = node.parent
        return (self.words[0].start, self.words[-1].end + 1) if self.words else (0, len(self.text))

    def _end_of_cast(self, last: int) -> int | None:
        """Return where the type of x::type ends if x ends at `last`; None for CAST(x AS type)."""
        later = [word for word in self.words if word.start > last]
        while later and later[0].token_type == TokenType.R_PAREN:
            later.pop(0)
        if len(later) < 2 or later[0].token_type != TokenType.DCOLON:
            return None
        end = later[1].end
        if len(later) > 2 and later[2].token_type == TokenType.L_PAREN:  # DECIMAL(18, 2)
            closing = (word for word in later if word.token_type == TokenType.R_PAREN)
            end = next((word.end for word in closing), end)
        return int(end)

    def _name_before(self, first: int) -> int:
        """Return where the name of a function begins if its arguments begin at `first`: sqlglot
        keeps no position for CAST( and the like.
        """
        before = [word for word in self.words if word.start < first][-2:]
        called = (
            len(before) == 2
            and before[1].token_type == TokenType.L_PAREN
            and before[0].end + 1 == before[1].start
        )
        return before[0].start if called and before[0].text.replace("_", "").isalpha() else first

    def _balanced(self, first: int, last: int, *, call: bool) -> Span:
        """Widen a span to the brackets that belong to it."""
        inside = [word for word in self.words if first <= word.start and word.end <= last]
        later = [word for word in self.words if word.start > last]
        if (
            call
            and later
            and later[0].token_type == TokenType.L_PAREN
            and not any(word.token_type in _OPENS for word in inside)
        ):
            inside.append(later.pop(0))
        depth = sum((word.token_type in _OPENS) - (word.token_type in _CLOSES) for word in inside)
        for word in later:
            if depth <= 0:
                break
            depth += (word.token_type in _OPENS) - (word.token_type in _CLOSES)
            last = word.end
        return first, last + 1

    def words_of(self, node: exp.Expression) -> str:
        """Return the text of a node, in one line."""
        start, end = self.span(node)
        return " ".join(self.text[start:end].split())

    def name_of_call(self, node: exp.Func) -> str:
        """Return the name of a function as the text spells it: the parser renames some."""
        name, bracket, _ = self.words_of(node).partition("(")
        if bracket and name.strip().replace("_", "").isalnum():
            return name.strip()
        return str(node.this) if isinstance(node, exp.Anonymous) else node.key

    def replace_text(self, node: exp.Expression, new: str) -> str:
        """Return the text with `new` in the place of a node, in one line."""
        start, end = self.span(node)
        return " ".join(f"{self.text[:start]}{new}{self.text[end:]}".split())

    def refuse(self, entry: RefusalText, at: Node | Span | None, **fields: object) -> Refused:
        """Return a refusal that shows the place; the entry's place is the note under the mark.
        Fills `{example}` by itself.
        """
        assert entry.code in _KNOWN, entry.code
        refusal = entry(example=self.example, **fields)
        part = at if isinstance(at, exp.Expression) else None
        return refusal.replace(place=self.mark_place(at, refusal.place), part=part)

    def relocate(
        self, refusal: Refused, at: Node | Span | None, rewrite: str | None = None
    ) -> Refused:
        """Return a refusal of a lower layer with its place in this text."""
        return refusal.replace(
            place=self.mark_place(at, ""),
            reason=printable(refusal.reason),
            rewrite=printable(refusal.rewrite if rewrite is None else rewrite),
            part=at if isinstance(at, exp.Expression) else None,
        )

    def mark_place(self, at: exp.Expression | Span | None, note: str) -> str:
        """Return the line of the text, and below it a mark under the place."""
        if at is None:
            return shorten(printable(" ".join(self.text.split())), SHOWN)
        start, end = self.span(at) if isinstance(at, exp.Expression) else at
        begin = self.text.rfind("\n", 0, start) + 1
        stop = self.text.find("\n", start)
        line = self.text[begin : len(self.text) if stop < 0 else stop].rstrip()
        start, end = start - begin, min(end - begin, len(line))
        if len(line) > SHOWN:
            skip = max(0, min(start - RESTED, len(line) - SHOWN))
            line, start, end = (
                ("…" if skip else "") + line[skip : skip + SHOWN],
                start - skip + bool(skip),
                end - skip + bool(skip),
            )
            end = min(end, len(line))
        before, underlined = (
            printable(part.replace("\t", " ")) for part in (line[:start], line[start:end])
        )
        blank = display_width(before)
        return (
            f"{printable(line.replace(chr(9), ' '))}\n"
            f"{' ' * blank}{'^' * max(1, display_width(underlined))} {note}"
        ).rstrip()


def _at(word: Token) -> Span:
    return word.start, word.end + 1


def _printable_text(text: str) -> str:
    """Return a text without its unprintable characters, in one line."""
    return " ".join("".join(c for c in text if c.isprintable() or c in _SIGNS).split())


@overload
def without_brackets(node: Node) -> Node: ...


@overload
def without_brackets(node: None) -> None: ...


def without_brackets(node: Node | None) -> Node | None:
    """Return what stands inside the brackets of a node; any other node as it is."""
    if not isinstance(node, exp.Paren):
        return node
    inner: Node = node.unnest()  # type: ignore[no-untyped-call]  # sqlglot leaves it untyped
    return inner


def arguments(node: exp.Expression) -> Iterator[str]:
    """Yield the names of a node's arguments that are set."""
    for name, value in node.args.items():
        if value is not None and value is not False and value != []:
            yield name
