"""Attacks that data owners run on their own data, against exact and against private answers.

Each attack is one function that returns one result: numbers, sentences, a plot, and its success
rate next to the limit that the guarantee sets. Results describe the raw data, so they are not
private: do not publish them.
"""

from .averaging import averaging
from .background import Background, background
from .closest_rows import ClosestRows, closest_rows
from .data.genomes import Genomes, genomes
from .data.ratings import Ratings, ratings, ratings_of
from .data.student_survey import survey
from .data.ward import patients
from .differencing import differencing
from .infer import infer
from .lib.attack_result import Result, Success
from .lib.owner_table import Columns
from .link import Link, link
from .membership import Membership, membership
from .name_and_shame import name_and_shame
from .p_percent import PPercent, p_percent
from .reconstruct import reconstruct, subset_counts
from .refusals import refusals
from .scoreboard import Scoreboard, scoreboard
from .side_information import side_information
from .skewness import Skewness, skewness
from .small_cell import small_cell
from .small_world import small_world
from .threshold import threshold
from .tracker import tracker
from .uniqueness import Uniqueness, uniqueness

__all__ = [
    "Background",
    "ClosestRows",
    "Columns",
    "Genomes",
    "Link",
    "Membership",
    "PPercent",
    "Ratings",
    "Result",
    "Scoreboard",
    "Skewness",
    "Success",
    "Uniqueness",
    "averaging",
    "background",
    "closest_rows",
    "differencing",
    "genomes",
    "infer",
    "link",
    "membership",
    "name_and_shame",
    "p_percent",
    "patients",
    "ratings",
    "ratings_of",
    "reconstruct",
    "refusals",
    "scoreboard",
    "side_information",
    "skewness",
    "small_cell",
    "small_world",
    "subset_counts",
    "survey",
    "threshold",
    "tracker",
    "uniqueness",
]
