"""Errors for people: one line that names what was found and what to do.

The command line prints the message of a :class:`SpacecastError` and nothing else; any other exception is a fault of
ours and keeps its traceback.
"""

from __future__ import annotations

MOST_SHOWN = 800
"""Characters of a message that are shown; what was found in a file may be of any length."""


def one_line(text: object) -> str:
    """A message as it is shown: in one line, and cut where it is longer than any person reads."""
    line = " ".join(str(text).split())
    return line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]} ... ({len(line)} characters)"


class SpacecastError(Exception):
    """What was asked for cannot be done; the message is one line for a person."""


class InputError(SpacecastError):
    """A file or folder that was given cannot be read as what it should be."""


class FrameError(SpacecastError, ValueError):
    """Transforms whose frames do not meet, a matrix that is not rigid, or a heading that is not defined."""


class UnknownObjectError(SpacecastError, KeyError):
    """No object has this id or label, or several have this label; the message lists the candidates."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class RelationError(SpacecastError, ValueError):
    """A relation that has no value: asked of an object and itself, or without the view that it needs."""


class InterventionError(SpacecastError, ValueError):
    """An intervention that makes no sense or is not feasible; the message says what it hits or leaves."""
