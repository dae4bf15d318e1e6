# SPDX-License-Identifier: Apache-2.0
"""Write results anew: ``python -m tests.kept [FAMILY…]``, which says what differs from those that were kept."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.kept.families import FAMILIES, keep, kept


def main(wanted: list[str]) -> None:
    for name, families in FAMILIES.items():
        try:
            before = kept(name)
        except OSError:
            before = {}
        after = {}
        for family, make in families.items():
            if wanted and family not in wanted and family in before:
                after[family] = before[family]
                continue
            with TemporaryDirectory() as folder:
                after[family] = make(Path(folder), slice(None))
            old = before.get(family, {})
            changed = [case for case, result in after[family].items() if old.get(case) != result]
            print(f"{family}: {len(after[family])} results, {len(changed)} of them changed or new", flush=True)
            for case in changed[:5] if old else []:
                print(f"  {case}\n    {old.get(case)}\n    {after[family][case]}")
        if after != before:
            keep(name, after)


if __name__ == "__main__":
    main(sys.argv[1:])
