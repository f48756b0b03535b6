"""Turn reports of local oracles into outputs: the report itself, and which of a few values it
supports.

*Supports*  Where every report has a hash function of its own no two are alike, and no event that is
            learned could tell what they say. Whether a report speaks for a value is public
            processing, so it is written beside the report: of each category, or of each prefix of a
            short text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local.frequency_oracle import FrequencyOracle
from ..local.hashing import Hashing
from ..local.lib.biased_coins import Bytes
from ..local.lib.hash_families import own_hash, to_bucket
from ..local.many_questions import Questionnaire
from ..local.oracle import Oracle
from ..local.prefix.prefix_search import continuations
from ..local.prefix.prefix_tree import PrefixTree
from ..local.wire_reports import unpack_integers
from .canonical_outputs import Outputs

MOST_BITS = 96  # of a report that is looked at bit by bit
MOST_SUPPORTED = 32  # values of which it is looked up whether a report speaks for them


def reports_at(m: Oracle, x: Any, n: int) -> NDArray[np.integer]:
    """Draw n reports about one value (of a panel, all reports of n people with one history).

    A report of one byte becomes a number; a longer one becomes the values it supports, and its bits
    or bytes.
    """
    values = {name: [x[name]] * n for name in m.names} if isinstance(m, Questionnaire) else [x] * n
    payload = m.perturb(values).payload.reshape(n, -1)
    if payload.shape[1] == 1:
        return payload[:, 0]
    supported = supports(m, payload)
    if supported is not None:
        return np.concatenate([supported, payload], axis=1)
    return np.unpackbits(payload, axis=1) if 8 * payload.shape[1] <= MOST_BITS else payload


def bit_of(drawn: Outputs, m: FrequencyOracle, place: int) -> NDArray[np.int64]:
    """Read the bit of each report at a place, however `reports_at` wrote it; −1 where the output is
    no report, or too long.
    """
    width = m.width
    if width > 1 and (
        8 * width <= MOST_BITS or m.k <= MOST_SUPPORTED
    ):  # bits; what is supported is written before them, and says the same
        column, shift = f"[{place}]", 0
    else:
        column, shift = ("" if width == 1 else f"[{place // 8}]"), 7 - place % 8
    values = drawn.numbers.get(column)
    if (
        values is None and drawn.symbols.dtype.kind == "V" and drawn.symbols.dtype.itemsize == width
    ):  # beyond the numbers looked at one by one
        values = (
            np.ascontiguousarray(drawn.symbols)
            .view(np.uint8)
            .reshape(len(drawn), width)[:, place // 8]
            .astype(np.float64)
        )
    if values is None:
        return np.full(len(drawn), -1)
    finite = np.isfinite(values)
    return np.where(finite, (np.where(finite, values, 0).astype(np.int64) >> shift) & 1, -1)


def supports(m: Oracle, payload: Bytes) -> NDArray[np.int64] | None:
    """Tell whether each report supports each of a few values; None where the report itself says
    so.
    """
    for kind, read in SUPPORTS.items():
        if isinstance(m, kind):
            return read(m, payload)
    return None


def _hashing(m: Hashing, payload: Bytes) -> NDArray[np.int64] | None:
    if m.k > MOST_SUPPORTED:
        return None
    a, b, bucket = (
        unpack_integers(payload[:, cut]) for cut in (slice(0, 4), slice(4, 8), slice(8, None))
    )
    return np.stack(
        [
            to_bucket(own_hash(a, b, np.full(len(a), code)), m.buckets) == bucket
            for code in range(m.k)
        ],
        axis=1,
    ).astype(np.int64)


def _prefixes(m: PrefixTree, payload: Bytes) -> NDArray[np.int64] | None:
    level, a, b, bucket = m.split(payload)
    columns, prefixes = [level], [""]
    for number in range(m.levels):
        prefixes = [prefix + more for prefix in prefixes for more in continuations(m, prefix)]
        if len(prefixes) > MOST_SUPPORTED:
            return None
        for prefix in prefixes:
            code = np.full(len(a), m.fingerprint(prefix))
            columns.append(
                (level == number) & (to_bucket(own_hash(a, b, code), m.buckets) == bucket)
            )
    return np.stack(columns, axis=1).astype(np.int64)


def _tally_each(m: FrequencyOracle, payload: Bytes) -> NDArray[np.int64] | None:
    """Use the oracle's tally of one report at a time, where a report is long."""
    if m.k > MOST_SUPPORTED or payload.shape[1] <= 2:
        return None
    return np.stack([m._tally(payload[i : i + 1]) for i in range(len(payload))])


SUPPORTS: dict[type, Callable[[Any, Bytes], NDArray[np.int64] | None]] = {
    Hashing: _hashing,
    PrefixTree: _prefixes,
    FrequencyOracle: _tally_each,
}
"""Type of oracle → function that finds which values its reports support."""
