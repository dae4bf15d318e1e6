"""Write the expected output of every case: ``python -m tests.golden``, then read the diff."""

from __future__ import annotations

import contextlib

from tests.golden.cases import CASES, FILES, FOLDER, run


def main() -> None:
    with contextlib.chdir(FILES):
        outputs = {name: run(case)[1] for name, case in CASES.items()}
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name, text in outputs.items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
