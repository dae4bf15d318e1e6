"""What is measured: a case has data, karat's side and its peers' sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
DATA = ROOT / "data"
FAMILIES = (
    "classification",
    "ranking",
    "soft",
    "spans",
    "splitting",
    "clustering",
    "probabilities",
    "statistics",
    "scale",
    "spark",
)


class Absent(RuntimeError):
    """A peer that no package brings and that this machine does not have."""


@dataclass(frozen=True)
class Data:
    """Files made once by make(folder) and kept in benchmarks/data/NAME."""

    name: str
    make: Callable[[Path], None]

    def folder(self) -> Path:
        """The folder, made when it is not there; the stamp is written last."""
        folder = DATA / self.name
        if not (folder / "made").exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.make(folder)
            (folder / "made").touch()
        return folder


@dataclass(frozen=True)
class Side:
    """One measured program: load(folder) is not measured, run(loaded) is, `repeat` times or for five seconds;
    the least CPU counts.

    What run returns as a float (an answer) must agree between the sides of a case.
    """

    name: str
    run: Callable[[Any], float | None]
    load: Callable[[Path], Any] = lambda folder: folder
    repeat: int = 3
    env: str = "here"
    part: float = 1.0
    """Share of the work that it does: a peer too slow for 10,000 resamples draws 100, and its seconds count 100 times."""


@dataclass(frozen=True)
class Case:
    """One row of RESULTS.md; `target` is the least ratio peer CPU / karat CPU that we promise."""

    name: str
    data: Data
    karat: Side
    peers: tuple[Side, ...] = ()
    target: float | None = None
    note: str = field(default="", compare=False)

    @property
    def sides(self) -> tuple[Side, ...]:
        """karat first."""
        return (self.karat, *self.peers)


def family(name: str) -> list[Case]:
    """The cases of one family; none where the file is not written yet."""
    import importlib
    import importlib.util

    module = f"benchmarks.{name}"
    return list(importlib.import_module(module).CASES) if importlib.util.find_spec(module) else []
