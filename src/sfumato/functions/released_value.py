"""The result of a release: a value that may be published, with its promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..exact.numbers import Number
from ..guarantees import Guarantee
from ..mechanisms.shared.mechanism import Mechanism
from ..templates.summary import Summarized, Summary
from ..templates.text_cells import shorten_line
from . import function_refusals as refusals

if TYPE_CHECKING:
    from ..ledger import Receipt


@dataclass(frozen=True, slots=True, repr=False)
class Released(Summarized):
    """A value that may be published. None means that the mechanism's private test gave no answer.
    The receipt holds the charge.
    """

    value: Any
    mechanism: Mechanism
    receipt: Receipt | None = None

    @property
    def promise(self) -> Guarantee:
        return self.mechanism.promise

    def _summary(self) -> Summary:
        entry = [] if self.receipt is None else [f"ledger entry {self.receipt.number}"]
        value = "no answer" if self.value is None else " ".join(repr(self.value).split())
        return Summary(
            title=f"released {shorten_line(value, 120)} · {self.promise.numbers_text}",
            notes=[repr(self.mechanism), *entry],
        )

    def error(self, confidence: Number = 0.95) -> float:
        """Return half the width of the confidence interval around the value (around each
        coordinate), for mechanisms whose noise does not depend on the data.
        """
        error = getattr(self.mechanism, "error", None)
        if error is None:
            name = type(self.mechanism).__name__
            raise refusals.ERROR_DEPENDS_ON_DATA(mechanism=name)
        return float(error(confidence))
