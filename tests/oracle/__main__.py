"""Make the environment beforehand: python -m tests.oracle"""

from tests.oracle import Unavailable, python

try:
    print(python())
except Unavailable as reason:
    print(reason)
