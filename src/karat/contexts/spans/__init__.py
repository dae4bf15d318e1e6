# SPDX-License-Identifier: Apache-2.0
"""Everything that marks stretches of text: entities, nested entities, tagged tokens, page excerpts, passages."""

from karat.contexts.spans.annotated import Annotated
from karat.contexts.spans.cells import SpansCells
from karat.contexts.spans.span import Spans
from karat.contexts.spans.spans_context import context

__all__ = ["Annotated", "Spans", "SpansCells", "context"]
