"""Procedural furnished rooms, written as raw ScanNet or ScanNet++ files."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scannet_tools.demo.write import write_demo, write_demo_scan

__all__ = ["write_demo", "write_demo_scan"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from scannet_tools.demo import write

        return getattr(write, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
