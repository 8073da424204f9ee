"""``spacecast demo``: write raw demo scans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from spacecast.errors import SpacecastError


@dataclass(frozen=True)
class Demo:
    """Write raw demo scans: furnished rooms as ScanNet files, and the truth beside them."""

    directory: tyro.conf.Positional[Path]
    """Folder to write to; gets scans/ and a label map."""
    scenes: int = 4
    """How many rooms."""
    layout: Literal["scannet", "scannetpp", "both"] = "scannet"
    """Which raw files to write."""
    seed: int = 0
    """Other seeds give other rooms."""

    def run(self) -> int:
        """Write the scans; 0 when they stand.

        Raises:
            SpacecastError: a layout that cannot be written.
        """
        if self.layout != "scannet":
            raise SpacecastError(
                f"--layout {self.layout}: demo scans are written as scannet only; use --layout scannet"
            )
        import os

        from scannet_tools.demo.write import write_demo

        folders = write_demo(self.directory, self.scenes, self.seed, workers=min(os.cpu_count() or 1, 8))
        print(f"{len(folders)} demo scans in {self.directory / 'scans'}")
        return 0
