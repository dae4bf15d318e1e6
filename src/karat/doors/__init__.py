# SPDX-License-Identifier: Apache-2.0
"""Other tools' front doors: their names, fields and numbers on karat's engine."""
