"""Censuses: one release of counts by place and attributes, at every level of a geography."""

from .census_plan import CensusPlan
from .census_result import Census
from .take_census import census, plan_census

__all__ = ["Census", "CensusPlan", "census", "plan_census"]
