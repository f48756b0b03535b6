"""Fill the HTML templates of this folder.

*Escaped*   Jinja escapes every value that a template prints. No template marks a value as safe.
*Strict*    A name that a template uses and that nobody gives is an error, not an empty text.
*Closed*    The pages have no script and fetch nothing: styles and pictures are parts of the page.
"""

from __future__ import annotations

import base64
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure


def fill_template(name: str, **values: object) -> str:
    """Fill a template of this folder with values."""
    return _environment().get_template(name).render(values)


def encode_png(figure: Figure, *, dpi: float | None = None) -> str:
    """Draw a figure as PNG, for an address `data:image/png;base64,…`."""
    memory = BytesIO()
    figure.savefig(memory, format="png", dpi=dpi or "figure", metadata={"Software": None})
    return base64.b64encode(memory.getvalue()).decode("ascii")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
