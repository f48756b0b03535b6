"""The refusals of `studies`. Names in braces are fields."""

from __future__ import annotations

from ..errors import RefusalText

UNKNOWN_STUDY = RefusalText(
    "studies.unknown",
    "study {name!r:.60}",
    "the studies are {names}",
    "sfumato reproduce --only {first}",
)
TOO_FEW_REPETITIONS = RefusalText(
    "studies.repetitions",
    "repetitions={repetitions}",
    "a band needs {least} repetitions or more",
    "repetitions=20",
)
REPORT_NOT_WRITABLE = RefusalText(
    "studies.out",
    "{out}",
    "the report cannot be written there",
    "sfumato reproduce --out report",
)
