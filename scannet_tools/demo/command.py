"""``spacecast demo``: write raw demo scans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro


@dataclass(frozen=True)
class Demo:
    """Write raw demo scans: furnished rooms as ScanNet or ScanNet++ files, and the truth beside them."""

    directory: tyro.conf.Positional[Path]
    """Folder to write to, new, empty, or of demo scans; gets scans/ and a label map (scannet), data/, splits/ and
    metadata/ (scannetpp), or all."""
    scenes: int = 4
    """How many rooms."""
    layout: Literal["scannet", "scannetpp", "both"] = "scannet"
    """Which raw files to write; both: each room in both, under one root."""
    seed: int = 0
    """Other seeds give other rooms."""

    def run(self) -> int:
        """Write the scans; 0 when they stand."""
        import os

        from scannet_tools.demo.write import write_demo

        workers = min(os.cpu_count() or 1, 8)
        folders = write_demo(self.directory, self.scenes, self.seed, layout=self.layout, workers=workers)
        for place in dict.fromkeys(folder.parent for folder in folders):
            print(f"{sum(folder.parent == place for folder in folders)} demo scans in {place}")
        return 0
