"""Restore an oracle from its question: the published question is enough to read the reports."""

from __future__ import annotations

import json

from ..errors import Refused
from . import client
from . import local_refusals as refusals
from .client import Question
from .direct import Direct
from .hadamard import Hadamard
from .hashing import Hashing
from .many_questions import Questionnaire
from .numeric.one_bit import OneBit
from .numeric.piecewise import Piecewise
from .oracle import Oracle
from .ordered.ordinal import Ordinal
from .panel import Panel
from .prefix.fragment_puzzle import FragmentPuzzle
from .prefix.prefix_tree import PrefixTree
from .rappor import Rappor
from .remembered.open_rappor import OpenRappor
from .sketch import Sketch
from .subset import Subset
from .unary import Unary

ORACLES: tuple[type[Oracle], ...] = (
    Direct,
    Unary,
    Subset,
    Hashing,
    Hadamard,
    Sketch,
    Rappor,
    OpenRappor,
    Ordinal,
    OneBit,
    Piecewise,
    PrefixTree,
    FragmentPuzzle,
    Questionnaire,
    Panel,
)
"""All oracles, in the order in which audits list them."""

KINDS = {kind: oracle for oracle in ORACLES for kind in oracle.kinds()}
"""The oracle of each kind of question."""


def restore(question: Question | str) -> Oracle:
    """Restore the oracle of a question, given as a dictionary or as JSON. A question that differs
    from its oracle's own question is refused.
    """
    try:
        record = json.loads(question) if isinstance(question, str) else question
        kind = (
            KINDS[record["kind"]]
            if record["sfumato"] == "local" and record["version"] == client.VERSION
            else None
        )
        about = {"categories": record["categories"]} if "categories" in record else {}
        oracle = kind(**about, **record["made"]) if kind is not None else None
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise refusals.UNKNOWN_QUESTION() from (error if isinstance(error, Refused) else None)
    if oracle is None or oracle.question != record:
        raise refusals.QUESTION_ALTERED()
    return oracle
