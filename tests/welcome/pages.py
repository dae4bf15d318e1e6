"""Pages of the documentation as a reader would follow them: files written, commands typed, answers compared."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from karat.cli.main import karat

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.M | re.S)
_BLOCK_OR_PYTHON = re.compile(r"^```(?:\n(?=\$ )|python\n(?=>>> ))(.*?)^```$", re.M | re.S)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Step(NamedTuple):
    """What was typed, and what the page says that follows."""

    typed: str
    shown: str


def steps(page: Path) -> Iterator[Step]:
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        yield from split(block)


def split(block: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        typed, _, shown = part.partition("\n")
        yield Step(typed, shown)


def tutorial(page: Path) -> list[str]:
    """Everything on the page that is not true: commands and Python in their order, in the working directory."""
    wrong: list[str] = []
    names: dict[str, object] = {}
    for number, block in enumerate(_BLOCK_OR_PYTHON.findall(page.read_text(encoding="utf-8"))):
        if block.startswith("$ "):
            wrong += typed(page.name, split(block))
        else:
            test = doctest.DocTestParser().get_doctest(block, names, f"{page.name}[{number}]", None, 0)
            doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=wrong.append, clear_globs=False)
            names = test.globs
    return wrong


def follow(page: Path) -> list[str]:
    """Everything on the page that is not true, run in the working directory."""
    return typed(page.name, steps(page))


def typed(page: str, steps: Iterable[Step]) -> list[str]:
    """What the commands print that the page does not show."""
    wrong, code = [], 0
    for step in steps:
        words = shlex.split(step.typed)
        if words[0] == "cat":
            Path(words[1]).parent.mkdir(parents=True, exist_ok=True)
            Path(words[1]).write_text(step.shown, encoding="utf-8")
        elif words[0] == "karat":
            run = CliRunner().invoke(karat, words[1:])
            code = run.exit_code
            wrong += [] if _same(step.shown, run.stdout + run.stderr) else [f"$ {step.typed}\n{run.stdout}{run.stderr}"]
            if run.exception is not None and not isinstance(run.exception, SystemExit):
                raise run.exception
        elif step.typed == "echo $?":
            wrong += [] if step.shown.strip() == str(code) else [f"$ echo $?\n{code}"]
        else:
            raise ValueError(f"{page}: {step.typed}")
    return wrong


def _same(shown: str, got: str) -> bool:
    wanted = re.sub(r"^…$", "...", shown, flags=re.M)
    return doctest.OutputChecker().check_output(wanted, got, _FLAGS)
