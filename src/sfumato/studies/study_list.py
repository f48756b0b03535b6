"""All studies, in the order of the sources: the thesis, then the slides and the survey."""

from __future__ import annotations

from . import (
    census_settings,
    choice_studies,
    curve_figures,
    curve_tables,
    gaussian_tables,
    growing_dimension,
    laplace_law,
    laplace_tables,
    lecture_tables,
    patients,
    renyi_tables,
    small_runs,
)
from . import study_refusals as refusals
from .study import Study

ORDER = (
    *("figure-2.1", "table-3.1", "figure-3.1", "table-3.2"),
    *(
        "table-4.1",
        "table-4.2",
        "table-4.3",
        "table-4.4",
        "table-4.5",
        "table-4.6",
        "table-4.7",
        "figure-4.1",
        "figure-4.2",
        "table-4.8",
        "table-4.9",
        "figure-4.3",
    ),
    *(
        "angie",
        "patients-response",
        "patients-laplace",
        "laplace-as-exponential",
        "auction",
        "survey-laplace",
        "letters",
        "histogram-mean",
        "survey-tables",
        "lecture-numbers",
    ),
    "census-2020",
)
"""The names of the studies, in the order of the pages."""

_MODULES = (
    laplace_law,
    renyi_tables,
    laplace_tables,
    gaussian_tables,
    growing_dimension,
    curve_tables,
    curve_figures,
    patients,
    choice_studies,
    small_runs,
    lecture_tables,
    census_settings,
)
STUDIES: tuple[Study, ...] = tuple(
    sorted(
        (study for module in _MODULES for study in module.STUDIES),
        key=lambda study: ORDER.index(study.name),
    )
)


def study(name: str) -> Study:
    """Return the study with this name."""
    by_name = {s.name: s for s in STUDIES}
    if name not in by_name:
        raise refusals.UNKNOWN_STUDY(name=name, names=", ".join(by_name), first=next(iter(by_name)))
    return by_name[name]
