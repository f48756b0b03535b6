"""Read regular expressions that LIKE can say: anchors, plain letters, `.`, `.*`, small classes and
alternation.

*Exactly*    A pattern becomes conditions with the same answer for every text: an equation, a
             prefix, a suffix, a part, or LIKE. All engines compute these in linear time.
*Point*      `.` stands for any character, line ends too, as in PostgreSQL.
*Whole*      REGEXP_MATCHES and REGEXP_LIKE search in the text; SIMILAR TO and REGEXP_FULL_MATCH
             match all of it. For `~` systems differ: it is read where both mean the same.
*Refused*    Anything else: repetition, groups that repeat, back references, look-around.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import exp

from ...tables.expr.expressions import Expr, call
from .. import sql_refusals as refusals
from ..sql_text import Node

if TYPE_CHECKING:
    from ..datetimes import Read
    from ..row_expressions import RowReader

MOST_PATTERNS = 32
"""Patterns that one regular expression may become."""

ANY, ONE = "\0%", "\0_"
"""Any characters, and one character, in a list of letters."""

_SPECIAL = frozenset("\\^$.|?*+()[]{}")
_CLASSES: Mapping[str, str] = {"d": "0123456789"}

Letters = tuple[str, ...]


class _Beyond(Exception):
    """The pattern is not one that LIKE can say."""


def read_pattern(node: Node, read: Read, scalars: RowReader) -> Expr:
    """Read a search for a pattern as a condition."""
    pattern, flags = node.expression, node.args.get("flag")
    options = str(flags.this) if isinstance(flags, exp.Literal) and flags.is_string else ""
    is_constant = isinstance(pattern, exp.Literal) and pattern.is_string
    if not is_constant or (flags is not None and options not in ("", "i", "c", "s")):
        raise scalars.source.refuse(refusals.REGULAR_EXPRESSION, node)
    small = isinstance(node, exp.RegexpILike) or options == "i"
    try:
        alternatives = _alternatives_of(str(pattern.this), node, scalars)
        value = read(node.this)
        conditions = [_condition(value, letters, small=small) for letters in alternatives]
    except _Beyond:
        raise scalars.source.refuse(refusals.REGULAR_EXPRESSION, node) from None
    return reduce(lambda first, second: call("or", first, second), conditions)


def _alternatives_of(text: str, node: Node, scalars: RowReader) -> list[Letters]:
    if isinstance(node, exp.SimilarTo):
        return parse_similar(text)
    searched = parse_pattern(text, anchored=False)
    if not isinstance(node, exp.RegexpFullMatch):
        return searched
    matched = parse_pattern(text, anchored=True)
    words = scalars.source.words_of(node).lower()
    if not words.startswith("regexp") and {*searched} != {*matched}:
        raise scalars.source.refuse(
            refusals.TILDE_MEANS_TWO,
            node,
            corrected=scalars.source.replace_text(
                node,
                f"REGEXP_MATCHES({scalars.source.words_of(node.this)}, "
                f"{scalars.source.words_of(node.expression)})",
            ),
        )
    return matched


def parse_pattern(text: str, *, anchored: bool) -> list[Letters]:
    """Return the texts that a regular expression stands for, as lists of letters and wildcards: a
    text matches if it is one of them. `anchored` says that it has to match from end to end.
    """
    patterns: list[Letters] = []
    for branch in _branches(text):
        start, end = branch.startswith("^"), branch.endswith("$") and not branch.endswith("\\$")
        body = branch.removeprefix("^")
        body = body.removesuffix("$") if end else body
        for letters in _expand(body):
            ended = letters if anchored or end else (*letters, ANY)
            patterns.append(ended if anchored or start else (ANY, *ended))
            if len(patterns) > MOST_PATTERNS:
                raise _Beyond
    return [_without_repeats(letters) for letters in dict.fromkeys(patterns)]


def parse_similar(text: str) -> list[Letters]:
    """Return the texts that a pattern of SIMILAR TO stands for."""
    patterns = []
    for branch in _branches(text):
        patterns += list(_expand(branch, any_sign="%", one_sign="_", point=False))
    if len(patterns) > MOST_PATTERNS:
        raise _Beyond
    return [_without_repeats(letters) for letters in dict.fromkeys(patterns)]


def _branches(text: str) -> list[str]:
    """Split a pattern at its outermost bars. A group around all of it is taken off."""
    if text.startswith("^(") and text.endswith(")$") and _closes(text[1:-1]):
        return [f"^{branch}$" for branch in _branches(text[2:-2])]
    if text.startswith("^(") and _closes(text[1:]):
        return [f"^{branch}" for branch in _branches(text[2:-1])]
    if text.startswith("(") and text.endswith(")$") and _closes(text[:-1]):
        return [f"{branch}$" for branch in _branches(text[1:-2])]
    if text.startswith("(") and _closes(text):
        return _branches(text[1:-1].removeprefix("?:"))
    branches, current, depth, place = [], "", 0, 0
    while place < len(text):
        sign = text[place]
        if sign == "\\" and place + 1 < len(text):
            current += text[place : place + 2]
            place += 2
            continue
        if sign == "[":
            end = text.find("]", place + 2)
            if end < 0:
                raise _Beyond
            current += text[place : end + 1]
            place = end + 1
            continue
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0:
            branches.append(current)
            current = ""
        else:
            current += sign
        place += 1
    return [*branches, current]


def _closes(text: str) -> bool:
    """Tell whether the bracket that opens a text closes at its end."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return place == len(text) - 1 and "\\" not in text and "[" not in text
    return False


def _expand(
    body: str, *, any_sign: str = "", one_sign: str = "", point: bool = True
) -> Iterator[Letters]:
    """Yield the lists of letters that a pattern without bars stands for."""
    slots: list[list[Letters]] = []
    place = 0
    while place < len(body):
        options, place = _slot(body, place, any_sign, one_sign, point=point)
        sign = body[place : place + 1]
        if sign and sign in "*+?{":
            options = _repeated(options, sign)
            place += 1
            if body[place : place + 1] in ("?", "+"):  # not greedy: the same texts match
                place += 1
        slots.append(options)
        count = 1
        for slot in slots:
            count *= len(slot)
        if count > MOST_PATTERNS:
            raise _Beyond
    for chosen in product(*slots):
        yield tuple(letter for letters in chosen for letter in letters)


def _repeated(options: list[Letters], sign: str) -> list[Letters]:
    if sign == "?":
        return [(), *options]
    if options == [(ONE,)]:
        return [(ANY,)] if sign == "*" else [(ONE, ANY)] if sign == "+" else _refuse()
    return _refuse()


def _refuse() -> list[Letters]:
    raise _Beyond


def _slot(
    body: str, place: int, any_sign: str, one_sign: str, *, point: bool
) -> tuple[list[Letters], int]:
    """Read one letter, class or group: return its options, and the place after it."""
    sign = body[place]
    if sign == "\\":
        escaped = body[place + 1 : place + 2]
        if escaped in _CLASSES:
            return [(letter,) for letter in _CLASSES[escaped]], place + 2
        if not escaped or escaped.isalnum():
            raise _Beyond
        return [(escaped,)], place + 2
    if sign == "[":
        end = body.find("]", place + 2)
        if end < 0:
            raise _Beyond
        return [(letter,) for letter in _members(body[place + 1 : end])], end + 1
    if sign == "(":
        end = _end_of_group(body, place)
        inner = body[place + 1 : end].removeprefix("?:")
        if inner.startswith("?") or "^" in inner or "$" in inner:
            raise _Beyond
        options = [
            letters
            for branch in _branches(inner)
            for letters in _expand(branch, any_sign=any_sign, one_sign=one_sign, point=point)
        ]
        return options, end + 1
    if sign == any_sign:
        return [(ANY,)], place + 1
    if sign == one_sign or (sign == "." and point):
        return [(ONE,)], place + 1
    if sign in _SPECIAL and not (sign in ".^$" and not point):
        raise _Beyond
    return [(sign,)], place + 1


def _end_of_group(body: str, place: int) -> int:
    depth = 0
    for i in range(place, len(body)):
        depth += (body[i] == "(") - (body[i] == ")")
        if depth == 0:
            return i
    raise _Beyond


def _members(text: str) -> list[str]:
    """Return the characters of a class: [abc] or [a-c]."""
    if not text or text.startswith("^") or "[" in text or "\\" in text:
        raise _Beyond
    members: list[str] = []
    place = 0
    while place < len(text):
        if place + 2 < len(text) and text[place + 1] == "-":
            first, last = ord(text[place]), ord(text[place + 2])
            if not 0 <= last - first < MOST_PATTERNS or max(first, last) > 127:
                raise _Beyond
            members += [chr(code) for code in range(first, last + 1)]
            place += 3
        else:
            members.append(text[place])
            place += 1
    return list(dict.fromkeys(members))


def _without_repeats(letters: Letters) -> Letters:
    """Write two wildcards for any characters as one."""
    return tuple(
        letter for i, letter in enumerate(letters) if letter != ANY or letters[i - 1 : i] != (ANY,)
    )


def _condition(value: Expr, letters: Letters, *, small: bool) -> Expr:
    """Return the condition that a text is one of these letters and wildcards."""
    if small:
        value = call("lower", value)
        letters = tuple(letter if letter in (ANY, ONE) else letter.lower() for letter in letters)
    inner = letters[letters[:1] == (ANY,) : len(letters) - (letters[-1:] == (ANY,))]
    plain = "".join(inner)
    if letters == (ANY,):
        return call("like", value, "%")
    if ANY not in inner and ONE not in inner:
        if letters[:1] == (ANY,) and letters[-1:] == (ANY,):
            return call("contains", value, plain)
        if letters[:1] == (ANY,):
            return call("ends_with", value, plain)
        return call("starts_with" if letters[-1:] == (ANY,) else "=", value, plain)
    if any(letter in "%_" for letter in inner):
        raise _Beyond  # LIKE has no escape
    signs = {ANY: "%", ONE: "_"}
    pattern = "".join(signs.get(letter, letter) for letter in letters)
    if "_" in pattern and sum(letter == ANY for letter in letters) > 2:
        raise _Beyond
    return call("like", value, pattern)
