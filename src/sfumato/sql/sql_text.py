"""A text, made into a tree by sqlglot, and the places in it: every refusal shows the analyst's own
words with a mark under those that are meant.

*Limits*   Length, words and brackets are counted before anything is parsed; while it is parsed,
           every node is counted. So no text is slow, however it nests.
*Nothing*  of the text is ever handed to an engine: what comes of it is a tree, which is read node
           by node against tables of what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ..answers.render.tabulate import printable, width
from ..errors import Refused
from ..exact import effort
from ..tables.expr.scalar_function import shorten
from .codes import CODES

LONGEST = 20_000
WORDS = 6_000
BRACKETS = 24
NODES_PER_WORD = 40  # an ordinary text makes fewer than five for each word
LOOKS_PER_WORD = 400  # an ordinary text is looked at fewer than twenty times for each word
SHOWN = 100
RESTED = 30  # of a long line, so many characters stand before what is marked

Node = exp.Expression
Span = tuple[int, int]
"""First character, and one beyond the last."""

EXPLAIN = re.compile(
    r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)*EXPLAIN\s+PRIVACY\b", re.IGNORECASE | re.DOTALL
)
_OPENS = {
    TokenType.L_PAREN: TokenType.R_PAREN,
    TokenType.L_BRACKET: TokenType.R_BRACKET,
    TokenType.L_BRACE: TokenType.R_BRACE,
}
_CLOSES = set(_OPENS.values())
_FIRST = (TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN)
_KNOWN = {code for code, _ in CODES}
_SIGNS = "\t\n\r"


class _TooLarge(Exception):
    """More nodes than a text of this length may make."""


class _Endless(Exception):
    """The parser goes round in a circle."""


class _Guarded(DuckDB.Parser):
    """sqlglot's parser, which tries some constructs twice: nested, that is exponential; and which
    can look at the same word for ever. This one stops.
    """

    left = 0
    looks = 0

    def __init__(self, **named: Any) -> None:
        super().__init__(**named)
        look = self._match

        def match(*args: Any, **named: Any) -> bool:
            self.looks -= 1
            if self.looks < 0:
                raise _Endless
            return bool(look(*args, **named))

        self._match = match  # which sqlglot keeps with each parser, not in the class

    def expression(self, *args: Any, **named: Any) -> Any:
        effort.check()
        self.left -= 1
        if self.left < 0:
            raise _TooLarge
        return super().expression(*args, **named)


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text with its words."""

    text: str
    words: tuple[Token, ...] = field(repr=False)
    example: str  # a question that would be answered

    @classmethod
    def of(cls, text: str, example: str) -> Source:
        """The words of a text, or a refusal."""
        if not isinstance(text, str):
            raise Refused("sql.text", type(text).__name__, "a question is a text", example)
        if len(text) > LONGEST:
            raise Refused(
                "sql.text",
                f"{len(text)} characters",
                f"a question has at most {LONGEST}",
                "long lists of keys belong into protect(keys=…)",
            )
        odd = next((c for c in text if not (c.isprintable() or c in _SIGNS)), None)
        if odd is not None:
            raise Refused(
                "sql.text",
                f"U+{ord(odd):04X}",
                "a character that is not printed has no place in a question",
                "the text without it",
            )
        told = EXPLAIN.match(text)
        plain = " " * told.end() + text[told.end() :] if told else text
        try:
            words = tuple(DuckDB().tokenize(plain))
        except SqlglotError:
            raise cls(text, (), example).refuse(
                "sql.syntax",
                None,
                "",
                "a quotation mark, a comment or a number is not ended",
                example,
            ) from None
        source = cls(text, words, example)
        source._check()
        return source

    def _check(self) -> None:
        if not self.words:
            raise Refused("sql.text", "an empty text", "there is no question in it", self.example)
        if len(self.words) > WORDS:
            raise self.refuse(
                "sql.depth",
                None,
                "",
                f"{len(self.words)} words; a question has at most {WORDS}",
                self.example,
            )
        depth = 0
        for i, word in enumerate(self.words):
            depth += (word.token_type in _OPENS) - (word.token_type in _CLOSES)
            if depth > BRACKETS:
                reason = f"brackets are nested at most {BRACKETS} deep"
                raise self.refuse(
                    "sql.depth",
                    _at(word),
                    "too deep",
                    reason,
                    "parts with names of their own: WITH a AS (…), b AS (…)",
                )
            if word.token_type == TokenType.SEMICOLON and any(
                later.token_type != TokenType.SEMICOLON for later in self.words[i:]
            ):
                reason = "each question has a cost of its own, so each is asked by itself"
                raise self.refuse(
                    "sql.statements",
                    _at(word),
                    "a second statement",
                    reason,
                    " ".join(self.text[: word.start].split()) or self.example,
                )

    def tree(self) -> exp.Expression:
        """The statement, parsed."""
        first = self.words[0]
        if first.token_type not in _FIRST:
            reason = "only questions are answered: nothing is written, set, loaded or attached here"
            raise self.refuse(
                "sql.statement", _at(first), "this is not a SELECT", reason, self.example
            )
        found = self._parsed(None)
        if isinstance(found, exp.SetOperation):
            reason = (
                "answers to several SELECTs are not put together; rows are, by UNION ALL in "
                "a sub-query"
            )
            raise self.refuse(
                "sql.set", found, "", reason, "one SELECT, with CASE or IN for what differs"
            )
        return found

    def condition(self) -> exp.Expression:
        """An expression, parsed."""
        return self._parsed(exp.Condition)

    def _parsed(self, into: Any) -> exp.Expression:
        parser = _Guarded(dialect=DuckDB())
        parser.left = NODES_PER_WORD * len(self.words) + 100
        parser.looks = LOOKS_PER_WORD * len(self.words) + 1000
        words = [word for word in self.words if word.token_type != TokenType.SEMICOLON]
        try:
            found = (
                parser.parse(words, self.text)
                if into is None
                else parser.parse_into(into, words, self.text)
            )
        except (_TooLarge, RecursionError):
            reason = "the text is nested too deeply to be read"
            raise self.refuse(
                "sql.depth",
                None,
                "",
                reason,
                "parts with names of their own: WITH a AS (…), b AS (…)",
            ) from None
        except SqlglotError as error:
            raise self._syntax(error) from None
        except Refused:  # the limit on effort
            raise
        except Exception:  # sqlglot does not promise to fail in its own way
            raise self.refuse(
                "sql.syntax", None, "", "this cannot be read as SQL", self.example
            ) from None
        tree = found[0] if len(found) == 1 else None
        if not isinstance(tree, exp.Expression):
            raise self.refuse("sql.syntax", None, "", "this cannot be read as SQL", self.example)
        return tree

    def _syntax(self, error: SqlglotError) -> Refused:
        """Where the parser stopped. Its own words are not repeated."""
        found = (getattr(error, "errors", None) or [{}])[0]
        line, column = found.get("line"), found.get("col")
        word = next((word for word in self.words if (word.line, word.col) == (line, column)), None)
        return self.refuse(
            "sql.syntax",
            None if word is None else _at(word),
            "from here on" if word else "",
            "this cannot be read as SQL",
            self.example,
        )

    def span(self, node: exp.Expression | None) -> Span:
        """From the first to the last character of what a node was made of; its parent's where
        nothing tells.
        """
        while node is not None:
            ends = [
                (found.meta["start"], found.meta["end"])
                for found in node.walk()
                if "start" in found.meta
            ]
            if ends:
                first, last = min(start for start, _ in ends), max(end for _, end in ends)
                if isinstance(node, exp.Func) and "start" not in node.meta:
                    first = self._name_before(first)
                return self._balanced(first, last, call=isinstance(node, exp.Func))
            node = node.parent
        return (self.words[0].start, self.words[-1].end + 1) if self.words else (0, len(self.text))

    def _name_before(self, first: int) -> int:
        """Where the name of a function begins, if what it is called with begins here: CAST( and its
        like leave no trace in the tree.
        """
        before = [word for word in self.words if word.start < first][-2:]
        called = (
            len(before) == 2
            and before[1].token_type == TokenType.L_PAREN
            and before[0].end + 1 == before[1].start
        )
        return before[0].start if called and before[0].text.replace("_", "").isalpha() else first

    def _balanced(self, first: int, last: int, *, call: bool) -> Span:
        """The same, with the brackets that belong to it."""
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
        """What stands there, in one line."""
        start, end = self.span(node)
        return " ".join(self.text[start:end].split())

    def replaced(self, node: exp.Expression, new: str) -> str:
        """The text with something else in that place."""
        start, end = self.span(node)
        return " ".join(f"{self.text[:start]}{new}{self.text[end:]}".split())

    def refuse(
        self, code: str, at: exp.Expression | Span | None, note: str, reason: str, rewrite: str = ""
    ) -> Refused:
        """A refusal that shows the place. The code stands before the first line, so the mark is
        moved by its length.
        """
        assert code in _KNOWN, code
        return Refused(code, self.marked(code, at, note), reason, rewrite)

    def moved(
        self, refusal: Refused, at: exp.Expression | Span | None, rewrite: str | None = None
    ) -> Refused:
        """A refusal from below, shown where it comes from in this text."""
        return Refused(
            refusal.code,
            self.marked(refusal.code, at, ""),
            printable(refusal.reason),
            printable(refusal.rewrite if rewrite is None else rewrite),
        )

    def marked(self, code: str, at: exp.Expression | Span | None, note: str) -> str:
        """The line, and a mark under what is meant."""
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
        before, meant = (
            printable(part.replace("\t", " ")) for part in (line[:start], line[start:end])
        )
        blank = len(f"refused [{code}]  ") + width(before)
        return (
            f"{printable(line.replace(chr(9), ' '))}\n"
            f"{' ' * blank}{'^' * max(1, width(meant))} {note}"
        ).rstrip()


def _at(word: Token) -> Span:
    return word.start, word.end + 1


def arguments(node: exp.Expression) -> Iterator[str]:
    """The names of a node's arguments that say something."""
    for name, value in node.args.items():
        if value is not None and value is not False and value != []:
            yield name
