"""The story of `sfumato demo`: one question about ten students, what the exact answer gives away, and what a private one does.

Every number in it is computed from the table and from the exact law of the noise; the private answers are drawn anew at each run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import mechanisms as mech
from .. import plots
from ..errors import Refused
from ..samples import Student, grades

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console
    from rich.table import Table

EPSILONS = ("0.1", "0.5", "2")
VICTIM = "Angie"
PRIOR = 0.4  # what the classmate thinks of any student before the answer
CONFIDENCE = 0.95
MOST_ANSWERS = 4
WIDEST = 1000  # noise of a larger scale drowns ten students in a flat line, in the picture as in the answer
FILE = "sfumato-demo.png"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One private answer to the question."""

    epsilon: str
    mechanism: mech.Laplace
    answer: int

    @property
    def half_width(self) -> int:
        return int(self.mechanism.error(CONFIDENCE))

    def odds(self, if_failed: int, if_passed: int) -> float:
        """How many times likelier this answer is under one truth than under the other."""
        top, bottom = (float(self.mechanism.probability(self.answer - truth)) for truth in (if_failed, if_passed))
        return top / bottom if bottom else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All that is told. It holds exact numbers because the students are invented; a record of a real release never does."""

    students: tuple[Student, ...]
    asked: tuple[Asked, ...]

    @property
    def exact(self) -> int:
        return _fails(self.students)

    @property
    def others(self) -> int:
        """What the classmate knows: the fails among everybody but the victim."""
        return _fails(s for s in self.students if s.name != VICTIM)

    def belief(self, *asked: Asked) -> float:
        """His probability that the victim failed, after these answers (Bayes)."""
        return _posterior(math.prod(a.odds(self.others + 1, self.others) for a in asked))


def tell(*, epsilons: Sequence[str], out: Path) -> None:
    """Ask, write the picture into `out`, print the story."""
    from rich.console import Console
    from rich.markup import escape

    story = ask(epsilons)
    file = _save(picture(story), out)
    console = Console(highlight=False)
    narrate(story, console)
    console.print("\n[bold]The picture[/]")
    console.print("Each answer's law if she failed, over its law if she passed: the closer the two, the less it tells.")
    console.print(f"Written to [bold]{escape(str(file))}[/]", soft_wrap=True)


def ask(epsilons: Sequence[str]) -> Story:
    """Put the one question once at each ε."""
    if len(epsilons) > MOST_ANSWERS:
        raise Refused(
            "demo.many", f"--epsilon, {len(epsilons)} times", f"the picture has room for {MOST_ANSWERS} answers", "sfumato demo --epsilon 0.5 --epsilon 2"
        )
    mechanisms = [mech.Laplace(sensitivity=1, epsilon=epsilon) for epsilon in epsilons]
    for epsilon, m in zip(epsilons, mechanisms, strict=True):
        if m.scale > WIDEST:
            raise Refused(
                "demo.epsilon", f"--epsilon {epsilon}", f"noise of a scale above {WIDEST} leaves nothing to see of ten students", "sfumato demo --epsilon 0.1"
            )
    students = grades()
    exact = _fails(students)
    asked = (Asked(epsilon=epsilon, mechanism=m, answer=int(m.perturb(exact))) for epsilon, m in zip(epsilons, mechanisms, strict=True))
    return Story(students=students, asked=tuple(asked))


def narrate(story: Story, console: Console) -> None:
    """Print everything but the picture."""
    n, exact, others = len(story.students), story.exact, story.others
    console.print(f"\n[bold]{n} students[/], and a grade that is nobody else's business\n")
    console.print(_roll(story.students))
    console.print("\n[bold]The exact answer[/]")
    console.print(
        f"How many failed? [bold]{exact}[/] of {n}. A classmate who knows every grade but {VICTIM}'s counts {others} among the others: "
        f"{exact} − {others} = {exact - others}, so {VICTIM} {'failed' if exact > others else 'passed'}. One harmless number, and he is [bold red]certain[/]."
    )
    console.print("\n[bold]Private answers[/]")
    console.print(
        f"Publish {exact} plus a random integer instead, drawn from a law that everybody may know; the smaller ε, the wider it is. "
        f"Before, he gave the event that {VICTIM} failed a probability of {PRIOR}. After:"
    )
    console.print(_table(story))
    console.print(
        f"[dim]An interval holds the true number with probability {CONFIDENCE} or more. The last column needs no luck: from {PRIOR} he "
        f"cannot come to believe more, whatever is answered and whatever else he knows. Answers below 0 or above {n} are left as drawn.[/]"
    )
    if len(story.asked) > 1:
        total = reduce(add, (a.mechanism.promise for a in story.asked)).epsilon()
        console.print("\n[bold]What it costs[/]")
        console.print(
            f"Promises add up: all {len(story.asked)} answers together are worth ε = {total:.4g}. They take him from {PRIOR} to "
            f"[bold]{_chance(story.belief(*story.asked))}[/] in this run, and could take him to {_ceiling(total)}. That is why a budget is kept."
        )


def picture(story: Story) -> Figure:
    """The law of each answer if the victim failed, over its law if she passed."""
    truths = {f"if {VICTIM} failed (truth {story.others + 1})": story.others + 1, f"if {VICTIM} passed (truth {story.others})": story.others}
    panels = []
    for a in story.asked:
        reach = a.half_width + 3
        integers = np.arange(story.others - reach, story.others + 1 + reach + 1)
        panels.append(
            plots.Panel(
                title=f"ε = {a.epsilon}",
                remark=f"± {a.half_width} at {CONFIDENCE:.0%}; heights differ by ×{_times(a.mechanism.promise.epsilon())} at most",
                integers=integers,
                laws={name: np.asarray(a.mechanism.probability(integers - truth), dtype=np.float64) for name, truth in truths.items()},
                mark=a.answer,
            )
        )
    title = f"How many of {len(story.students)} students failed? The law of the private answer"
    return plots.laws(panels, title=title, across="published number", mark="the answer of this run")


def _table(story: Story) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("ε", "answer", f"{CONFIDENCE:.0%} interval", f"P({VICTIM} failed)", "at most, ever"):
        table.add_column(heading, justify="right")
    table.add_row("none", str(story.exact), f"{story.exact} … {story.exact}", f"[red]{story.exact - story.others}[/]", "1")
    for a in story.asked:
        interval = f"{a.answer - a.half_width} … {a.answer + a.half_width}"
        table.add_row(a.epsilon, str(a.answer), interval, f"[bold]{_chance(story.belief(a))}[/]", _ceiling(a.mechanism.promise.epsilon()))
    return table


def _roll(students: Sequence[Student]) -> Table:
    from rich.table import Table

    roll = Table.grid(padding=(0, 3))
    half = (len(students) + 1) // 2
    for row in (students[:half], students[half:]):
        roll.add_row(*(f"[red]✗[/] {s.name}" if s.grade == "fail" else f"[green]✓[/] {s.name}" for s in row))
    return roll


def _save(figure: Figure, out: Path) -> Path:
    file = out / FILE
    try:
        out.mkdir(parents=True, exist_ok=True)
        figure.savefig(file)
    except OSError:
        raise Refused("demo.out", f"--out {out}", "the picture cannot be written there", "sfumato demo --out pictures") from None
    return file


def _fails(students: Iterable[Student]) -> int:
    return sum(s.grade == "fail" for s in students)


def _posterior(odds: float) -> float:
    return 1 / (1 + (1 - PRIOR) / PRIOR / odds) if odds else 0.0


def _ceiling(epsilon: float) -> str:
    """The most he can come to believe: no answer of an ε-private mechanism has odds above e^ε. A bound, so it is rounded up."""
    return f"{math.ceil(1000 / (1 + (1 - PRIOR) / PRIOR * math.exp(-epsilon))) / 1000:.3f}"


def _times(epsilon: float) -> str:
    """e^ε, rounded up: it is a bound, too."""
    return f"{math.ceil(100 * math.exp(epsilon)) / 100:.6g}" if epsilon < 700 else f"e^{epsilon:.4g}"


def _chance(p: float) -> str:
    """A probability as text that never rounds a doubt away."""
    if 0.0005 <= p < 0.9995:
        return f"{p:.3f}"
    return "> 0.999" if p > 0.5 else "< 0.001"
