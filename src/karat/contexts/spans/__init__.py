# SPDX-License-Identifier: Apache-2.0
"""Everything that marks stretches of text: entities, nested entities, tagged tokens, page excerpts, passages."""

from karat.contexts.spans.cells import SpansCells
from karat.contexts.spans.context import context
from karat.contexts.spans.span import Spans

__all__ = ["Spans", "SpansCells", "context"]
