# SPDX-License-Identifier: Apache-2.0
"""``python -m karat`` is the command ``karat``."""

from karat.cli.main import main

main()
