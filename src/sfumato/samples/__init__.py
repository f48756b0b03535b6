"""Public example data about invented people, so exact numbers about it may be printed."""

from .people import people
from .students import Student, grades
from .visits import visits

__all__ = ["Student", "grades", "people", "visits"]
