"""The refusals of `curators`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

TOO_FEW_CURATORS = RefusalText(
    "curators.number",
    "curators={curators}, honest={honest}",
    "a secure sum needs from 2 to {most} curators, and from 1 to all of them honest",
    "SecureSum(epsilon=1, curators=5, honest=3)",
)
NUMBERS_OUT_OF_RANGE = RefusalText(
    "curators.number",
    "size={size}, sensitivity={sensitivity}",
    "size and sensitivity are whole numbers of at least 1",
    "SecureSum(epsilon=1, curators=5, honest=3, size=10, sensitivity=1)",
)
WRONG_NUMBER_OF_COUNTS = RefusalText(
    "curators.counts",
    "{count} counts",
    "every curator gives whole numbers, as many as the sum has: {size}",
    "secure_sum.contribute([12, 7], ledger)",
)
NOT_A_PACKET = RefusalText(
    "curators.packets",
    "packet {number}",
    "every packet of this sum has {length} bytes, and there is one from each curator taking part",
    "secure_sum.add(packets)",
)
TOO_FEW_PRESENT = RefusalText(
    "curators.packets",
    "{present} curators",
    "with fewer than {honest} curators the noise of the total is less than promised",
    "repeat the sum, with its charge, when at least {honest} curators are present",
)
