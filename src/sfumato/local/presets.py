"""Published parameters of real deployments, and the ε that they really give.

*Use*       `presets.chrome_homepage(categories)` is an oracle like any other; its `promise` is
            arithmetic over its law, whatever was claimed. The hash functions and the wire format
            are ours: only the law of a report is taken over.
*Sources*   In the table, with the claimed ε; docs/guides/local.md compares it with the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from .direct import Direct
from .frequency_oracle import FrequencyOracle
from .rappor import Rappor
from .sketch import Sketch

_CHROMIUM = "Chromium, components/rappor/public/rappor_parameters.h"
_RAPPOR = "Erlingsson, Pihur & Korolova 2014, CCS, section 5"
_APPLE = "Apple, Learning with Privacy at Scale, 2017"


@dataclass(frozen=True, slots=True)
class Preset:
    """One deployment: who asked what, the source of its parameters, the claimed ε, and the oracle's
    arguments. Call it with the categories.
    """

    who: str
    what: str
    source: str
    claim: str
    kind: Callable[..., FrequencyOracle]
    arguments: dict[str, object]

    def __call__(
        self, categories: Iterable[Hashable], *, unit: str | None = None
    ) -> FrequencyOracle:
        return self.kind(categories=categories, unit=unit, **self.arguments)


def _rappor(bits: int, f: str, p: str, q: str) -> dict[str, object]:
    return {"f": f, "p": p, "q": q, "hashes": 2, "size": bits, "cohorts": 128}


coin_toss = Preset(
    "surveys since the 1960s",
    "a yes-or-no question",
    "Warner 1965; the two-coin form of textbooks",
    "ε = ln 3",
    Direct,
    {"keep": Fraction(3, 4)},
)
chrome_homepage = Preset(
    "Google Chrome",
    "the domain of the homepage (ETLD_PLUS_ONE)",
    _CHROMIUM,
    "no ε in the file; f = ½, q = ¾, p = ¼",
    Rappor,
    _rappor(128, "1/2", "1/4", "3/4"),
)
chrome_settings = Preset(
    "Google Chrome",
    "texts of usage statistics (UMA)",
    _CHROMIUM,
    "no ε in the file; f = ½, q = ¾, p = ¼",
    Rappor,
    _rappor(32, "1/2", "1/4", "3/4"),
)
rappor_paper = Preset(
    "Google Chrome",
    "experiments of the paper that introduced it",
    _RAPPOR,
    "f = ½, q = ¾, p = ½",
    Rappor,
    _rappor(128, "1/2", "1/2", "3/4"),
)
apple_emoji = Preset(
    "Apple",
    "which emoji are typed",
    _APPLE,
    "ε = 4 for each donation",
    Sketch,
    {"epsilon": 4, "rows": 65536, "size": 1024},
)
apple_safari_energy = Preset(
    "Apple",
    "domains that drain energy in Safari",
    _APPLE,
    "ε = 4 for each donation",
    Sketch,
    {"epsilon": 4, "rows": 1024, "size": 32768, "hadamard": True},
)
apple_mail_domains = Preset(
    "Apple",
    "domains of mail senders",
    "reports as devices show them in their analytics data",
    "ε = 8 for each record",
    Sketch,
    {"epsilon": 8, "rows": 65536, "size": 1024},
)

PRESETS: dict[str, Preset] = {
    "coin_toss": coin_toss,
    "chrome_homepage": chrome_homepage,
    "chrome_settings": chrome_settings,
    "rappor_paper": rappor_paper,
    "apple_emoji": apple_emoji,
    "apple_safari_energy": apple_safari_energy,
    "apple_mail_domains": apple_mail_domains,
}
"""All presets by name."""
