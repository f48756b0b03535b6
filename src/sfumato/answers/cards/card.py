"""The release card: what was released, who is protected, how, and at what cost, as JSON and HTML.

*Registry*   `deployment` has the fields of the public registry of DP deployments (its schema of
             2026), so that an entry can be made of it (`registry`). Its texts are for people.
*Release*    `release` has the same facts exactly: guarantees and mechanisms as their stored
             records, bounds, rules, receipt, versions, declaration, question.
*Public*     Nothing on the card comes from data. It has no released values, no group's key and no
             path: only the facts named in this module are copied.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar, cast

from .. import answer_refusals as refusals
from ..column_kinds import KINDS
from ..plain_json import Record, to_plain_json
from .card_record import cost_details, privacy_parameters, release_facts, utility_text, version_of

if TYPE_CHECKING:
    from ..answer import Answer

T = TypeVar("T")

VERSION = 1
NEEDED = (
    "name",
    "data_curators",
    "description",
    "intended_use",
    "data_product_type",
    "data_product_region",
    "publication_date",
)
"""The fields that the registry requires."""

NEIGHBOURS = {
    "add-remove": "Neighbouring datasets differ by all rows of one {unit}, added or removed.",
    "replace": "Neighbouring datasets differ in the rows of one {unit}: other rows replace them.",
    None: "Neighbouring datasets differ in the rows of one {unit}.",
}
TRUST = (
    "The data curator sees the raw data. Everybody else sees only the answers. They may choose "
    "each question after seeing earlier answers, and may know everything about all other people."
)
NOISE = (
    "sfumato {version} adds exact integer noise, without floating point, with random bits from "
    "the operating system."
)
NOTHING_CLEAR = (
    "Nothing is computed from the data without noise. Public by declaration: names and types of "
    "columns, their bounds, limits on rows and groups, public keys."
)


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """A release card: plain JSON values, shown as JSON, HTML or text."""

    content: Record

    def to_dict(self) -> Record:
        """Return the card as plain values."""
        return cast("Record", to_plain_json(self.content))

    def to_json(self) -> str:
        """Return the card as JSON text; `card_schema()` describes it."""
        return json.dumps(self.content, ensure_ascii=False, indent=2)

    def to_html(self) -> str:
        """Return the card as a complete HTML page without scripts."""
        from .card_html import card_page

        return card_page(self.content)

    def _repr_html_(self) -> str:
        from .card_html import card_fragment

        return card_fragment(self.content)

    def __str__(self) -> str:
        from .card_html import card_lines

        return card_lines(self.content)

    def registry(self, *, slug: str, authors: Sequence[str]) -> Record:
        """Return a draft entry for the public registry of DP deployments, for people to review."""
        deployment = self.to_dict()["deployment"]
        if lacking := [name for name in NEEDED if not deployment["basic"].get(name)]:
            entry = (
                refusals.REGISTRY_DATE_MISSING
                if "publication_date" in lacking
                else refusals.REGISTRY_FIELDS_MISSING
            )
            raise entry(fields=", ".join(lacking), arguments=_missing_arguments(lacking))
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
    """Return the card of an answer. The arguments are what only the publisher knows: who publishes,
    for what use, region and sector, whether the data grow, and why.
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
            "variant_name": answer.cost.registry_name,
            "data_domain": (
                f"All tables with the declared columns, in which every row belongs to one {unit}."
            ),
            "unprotected_quantities": NOTHING_CLEAR,
        },
        "privacy_loss": {
            "privacy_unit": unit,
            "privacy_unit_details": NEIGHBOURS[relation].format(unit=unit)
            + (" Each row counts as a different person." if unit == "row" else ""),
            "privacy_parameters": privacy_parameters(answer.cost),
            "privacy_parameters_details": cost_details(answer),
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
                    *dict.fromkeys(
                        f"{p.name}: {p.mechanism!r}"
                        for table in answer.tables or (answer,)
                        for p in table.pieces
                    ),
                    NOISE.format(version=version),
                ]
            ),
            "composition": (answer.budget or answer.cost).theorem
            or "All parts are stored and evaluated together.",
            "post_processing": " · ".join(answer.processing)
            or "Scaling, ratios of noisy sums, clamping to the possible range.",
            "utility": utility_text(answer),
            "justification": justification,
        },
    }
    return Card(
        _drop_none(
            {
                "sfumato": "card",
                "version": VERSION,
                "deployment": deployment,
                "release": release_facts(answer, unit, relation, version),
            }
        )
    )


def card_schema() -> Record:
    """Return the JSON Schema of a card."""
    schema: Record = json.loads(
        files(__package__).joinpath("card.schema.json").read_text(encoding="utf-8")
    )
    columns = schema["properties"]["release"]["properties"]["columns"]
    columns["items"]["properties"]["kind"] = {"enum": list(KINDS)}
    return schema


def _drop_none(value: T) -> T:
    """Drop the entries of dictionaries whose value is None."""
    if isinstance(value, dict):
        stated = {name: _drop_none(item) for name, item in value.items() if item is not None}
        return cast("T", stated)
    return cast("T", [_drop_none(item) for item in value]) if isinstance(value, list) else value


def _missing_arguments(lacking: Sequence[str]) -> str:
    """Write the arguments that supply the missing fields, with example values."""
    examples = {
        "data_curators": 'curators=["Statistics Office"]',
        "intended_use": 'intended_use="research"',
        "data_product_region": 'region="Italy"',
    }
    return ", ".join(examples[name] for name in lacking if name in examples)
