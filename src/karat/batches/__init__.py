# SPDX-License-Identifier: Apache-2.0
"""Files larger than memory, in batches of whole units: each is read, checked, aligned and reduced as a small file is.

count = cells ∘ merge ∘ reduce: what the batches reduce to is merged and turned into cells once. What cannot be told of a
batch by itself raises `NotInBatches`, and the file is read as a whole. So this package can be deleted without changing a
number or a message; it buys files that do not fit into memory (docs/scale.md has the figures).
"""

from karat.batches.documents import are_documents, without_texts
from karat.batches.files import ON, NotInBatches, is_large
from karat.batches.outcomes import distinct_outcomes
from karat.batches.pages import bundles, may_be_pages
from karat.batches.rankings import are_rankings, ranked

__all__ = [
    "ON",
    "NotInBatches",
    "are_documents",
    "are_rankings",
    "bundles",
    "distinct_outcomes",
    "is_large",
    "may_be_pages",
    "ranked",
    "without_texts",
]
