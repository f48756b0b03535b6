"""The release card: what was released, of what, who is protected, how, and at what cost; for
machines, and as a page.

*Registry*   `deployment` has the fields of the public registry of DP deployments (its schema of
             2026), so that an entry can be made of it (`registry`). Its texts are for people.
*Release*    `release` has the same facts exactly: guarantees and mechanisms as their stored
             records, bounds, rules, receipt, versions, declaration, question.
*Public*     Nothing of it comes from data. There are no released values on it either, no group's
             key, and no path: only facts that are named here are copied.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...accounting.filters import FILTERS
from ...errors import Refused
from ...guarantees import ZCDP, Approx, Guarantee, Pure, Renyi
from ..plain_json import plainly
from .card_record import details, parameters, release, utility, version_of

if TYPE_CHECKING:
    from ..answer import Answer

VERSION = 1
VARIANTS: dict[type[Guarantee], str] = {
    Pure: "Pure DP",
    Approx: "Approximate DP",
    ZCDP: "Zero-concentrated DP",
    Renyi: "Renyi DP",
}
"""What the registry calls a notion; every other one is custom there."""

NEEDED = (
    "name",
    "data_curators",
    "description",
    "intended_use",
    "data_product_type",
    "data_product_region",
    "publication_date",
)
"""What the registry does not do without."""

NEIGHBOURS = {
    "add-remove": "Neighbouring datasets differ by all rows of one {unit}, added or removed.",
    "replace": "Neighbouring datasets differ in the rows of one {unit}, which are replaced by others.",
    None: "Neighbouring datasets differ in the rows of one {unit}.",
}
TRUST = (
    "Whoever keeps the data sees it as it is. Others see answers only, may ask more after "
    "seeing some, and may know everything about everybody else."
)
NOISE = (
    "Integers get exact integer noise (no floating point is involved), with bits from the "
    "operating system, by sfumato {version}."
)
NOTHING_CLEAR = (
    "None is computed from the data without noise. Public by declaration: names and types of "
    "columns, their bounds, limits on rows and groups, listed keys."
)


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """Plain values, as JSON has them, and how to show them."""

    content: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The card as plain values."""
        found: dict[str, Any] = plainly(self.content)
        return found

    def to_json(self) -> str:
        """The card as text; `card_schema()` describes it."""
        return json.dumps(self.content, ensure_ascii=False, indent=2)

    def to_html(self) -> str:
        """The card as a page of its own, without scripts."""
        from .card_html import page

        return page(self.content)

    def _repr_html_(self) -> str:
        from .card_html import fragment

        return fragment(self.content)

    def __str__(self) -> str:
        from .card_html import lines

        return lines(self.content)

    def registry(self, *, slug: str, authors: Sequence[str]) -> dict[str, Any]:
        """An entry for the public registry of DP deployments: a draft, to be looked over by
        people.
        """
        deployment = self.to_dict()["deployment"]
        if lacking := [name for name in NEEDED if not deployment["basic"].get(name)]:
            raise Refused(
                "card.registry",
                f"without {', '.join(lacking)}",
                "the registry asks for it, and only the publisher knows",
                f"card({_asked(lacking)})",
            )
        administrative = {"status": "Draft", "registry_authors": list(authors), "tier": 3}
        return {"url_slug": slug, "deployment": {**deployment, "administrative": administrative}}


def card(
    answer: Answer,
    *,
    name: str | None = None,
    description: str | None = None,
    curators: Sequence[str | Mapping[str, str]] = (),
    intended_use: str | None = None,
    region: str | None = None,
    sector: str | None = None,
    source: str | None = None,
    justification: str | None = None,
) -> Card:
    """The card of an answer, with what only the publisher can say: who publishes, for what use, of
    which region and sector, whether the data grow, and why.
    """
    facts, version = answer.facts, version_of(answer)
    unit, relation = (
        str(facts.get("unit") or answer.cost.unit or "row"),
        facts.get("relation") or answer.cost.relation,
    )
    dataset = str(facts.get("dataset", "a protected table"))
    question = str(
        facts.get("question") or ", ".join(column.text or column.name for column in answer.columns)
    )
    named = [{"data_curator_name": c} if isinstance(c, str) else dict(c) for c in curators]
    basic = {
        "name": name or f"Statistics of {dataset}",
        "data_curators": named or None,
        "description": description or question,
        "intended_use": intended_use,
        "data_product_type": "Summary statistics",
        "data_product_region": region,
        "data_product_sector": sector,
        "publication_date": answer.receipts[-1].when[:10] if answer.receipts else None,
    }
    deployment = {
        "basic": basic,
        "dp_variant": {
            "variant_name": VARIANTS.get(type(answer.cost), "Custom"),
            "data_domain": f"All tables with the declared columns, in which every row belongs to one {unit}.",
            "unprotected_quantities": NOTHING_CLEAR,
        },
        "privacy_loss": {
            "privacy_unit": unit,
            "privacy_unit_details": NEIGHBOURS[relation].format(unit=unit)
            + (" Each row is taken as a different person." if unit == "row" else ""),
            "privacy_parameters": parameters(answer.cost),
            "privacy_parameters_details": details(answer),
        },
        "deployment_model": {
            "model_name": "Central",
            "trust_assumptions": TRUST,
            "release_type": "Many releases" if answer.budget is not None else "One release",
            "data_source_type": source,
            "access_type": "Interactive" if answer.budget is not None else "Non-interactive",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": " · ".join(answer.rules) or "None.",
            "mechanisms": " · ".join(
                [
                    *dict.fromkeys(f"{p.name}: {p.mechanism!r}" for p in answer.pieces),
                    NOISE.format(version=version),
                ]
            ),
            "composition": FILTERS.get(
                type(answer.budget or answer.cost), "The parts are kept and evaluated together."
            ),
            "post_processing": " · ".join(answer.processing)
            or "Scaling, ratios of noisy sums, cuts to what is possible.",
            "utility": utility(answer),
            "justification": justification,
        },
    }
    return Card(
        _without_nothing(
            {
                "sfumato": "card",
                "version": VERSION,
                "deployment": deployment,
                "release": release(answer, unit, relation, version),
            }
        )
    )


def card_schema() -> dict[str, Any]:
    """The JSON Schema of a card."""
    found: dict[str, Any] = json.loads(
        files(__package__).joinpath("card.schema.json").read_text(encoding="utf-8")
    )
    return found


def _without_nothing(value: Any) -> Any:
    """Dictionaries without the entries of which nothing is known."""
    if isinstance(value, dict):
        return {name: _without_nothing(item) for name, item in value.items() if item is not None}
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value


def _asked(lacking: Sequence[str]) -> str:
    arguments = {
        "data_curators": "curators=[…]",
        "intended_use": "intended_use=…",
        "data_product_region": "region=…",
        "publication_date": "a receipt",
    }
    return ", ".join(arguments.get(name, f"{name}=…") for name in lacking)
