"""PyEvALL itself as an oracle: an environment of its own, and one process that answers many cases."""

from tests.oracle.client import ask
from tests.oracle.environment import Unavailable, python

__all__ = ["Unavailable", "ask", "python"]
