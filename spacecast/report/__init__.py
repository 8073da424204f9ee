"""Static pages to look at scenes and questions and to review them; a contact sheet; tables for the command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacecast.report.contact import write_contact_sheet
    from spacecast.report.site import write_report

__all__ = ["write_contact_sheet", "write_report"]

_HOMES = {"write_contact_sheet": "spacecast.report.contact", "write_report": "spacecast.report.site"}


def __getattr__(name: str) -> Any:  # tables for the command line need neither Pillow nor jinja2
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'spacecast.report' has no attribute {name!r}")
