"""A ward of twenty invented patients that is 5-anonymous in age and area, and still reveals a
lot.
"""

from __future__ import annotations

_GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("20-39", "130**", ("heart", "flu", "flu", "asthma", "heart")),
    ("20-39", "148**", ("flu", "asthma", "flu", "flu", "flu")),
    # all alike: to be in it is to have it
    ("40-59", "130**", ("cancer", "cancer", "cancer", "cancer", "cancer")),
    ("40-59", "148**", ("heart", "flu", "cancer", "heart", "asthma")),
)


def patients() -> dict[str, list[str]]:
    """Return age, area and disease of twenty invented patients: five share every age and area, and
    one group has a single disease.
    """
    rows = [(age, area, disease) for age, area, diseases in _GROUPS for disease in diseases]
    return {
        name: [row[place] for row in rows] for place, name in enumerate(("age", "area", "disease"))
    }
