"""The refusals of `studies`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

STUDIES_OUT_1 = RefusalText(
    "studies.out",
    "{out}",
    "the report cannot be written there",
    "sfumato reproduce --out report",
)
STUDIES_REPETITIONS_1 = RefusalText(
    "studies.repetitions",
    "{values_count} repetitions",
    "a band needs two repetitions or more",
    "repetitions=20",
)
STUDIES_REPETITIONS_2 = RefusalText(
    "studies.repetitions",
    "repetitions={repetitions}",
    "a band needs {LEAST} repetitions or more",
    "repetitions={REPETITIONS}",
)
STUDIES_UNKNOWN_1 = RefusalText(
    "studies.unknown",
    "study {name!r:.60}",
    "there is no study of this name",
    "one of {by_name}",
)
