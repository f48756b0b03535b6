"""From a question to its oracle: what a collector published is enough to read the reports that come
back.
"""

from __future__ import annotations

import json
from typing import Any

from ..errors import Refused
from . import client
from .direct import Direct
from .hadamard import Hadamard
from .hashing import Hashing
from .many_questions import Several
from .numeric.one_bit import OneBit
from .numeric.piecewise import Piecewise
from .oracle import Oracle
from .ordered.ordinal import Ordinal
from .panel import Panel
from .prefix.prefix_tree import PrefixTree
from .rappor import Rappor
from .sketch import Sketch
from .subset import Subset
from .unary import Unary

KINDS: dict[str, type[Oracle]] = {
    "direct": Direct,
    "unary": Unary,
    "hashing": Hashing,
    "hadamard": Hadamard,
    "subset": Subset,
    "sketch": Sketch,
    "hadamard-sketch": Sketch,
    "rappor": Rappor,
    "one-bit": OneBit,
    "piecewise": Piecewise,
    "ordinal": Ordinal,
    "prefix": PrefixTree,
    "several": Several,
    "panel": Panel,
}
"""The oracle of each kind of question."""


def restore(question: dict[str, Any] | str) -> Oracle:
    """The oracle of a question, as a dictionary or as JSON. One that does not come out the same is
    refused: its numbers are not those of its oracle.
    """
    place = "a question"
    try:
        asked = json.loads(question) if isinstance(question, str) else question
        kind = (
            KINDS[asked["kind"]]
            if asked["sfumato"] == "local" and asked["version"] == client.VERSION
            else None
        )
        about = {"categories": asked["categories"]} if "categories" in asked else {}
        made = kind(**about, **asked["made"]) if kind is not None else None
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise Refused(
            "local.question",
            place,
            "this is no question that this version knows",
            "oracle.question",
        ) from (error if isinstance(error, Refused) else None)
    if made is None or made.question != asked:
        raise Refused(
            "local.question",
            place,
            "its numbers are not those of the oracle it says it is",
            "oracle.question, unchanged",
        )
    return made
