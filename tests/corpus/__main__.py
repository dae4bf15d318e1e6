"""Write what comes out of every case: ``python -m tests.corpus [CONTEXT…]``, then see what changed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.corpus.cases import cases, outcome, rounded, write
from tests.corpus.data import CONTEXTS


def main() -> None:
    for name in sys.argv[1:] or CONTEXTS:
        with tempfile.TemporaryDirectory() as folder:
            write(name, {case: rounded(outcome(made, Path(folder))) for case, made in cases(name).items()})


if __name__ == "__main__":
    main()
