"""A root of invented scans, and a dataset built from them once."""

from __future__ import annotations

from pathlib import Path

import pytest
import synthetic_suite as synthetic

from spacecast.dataset.build import BuildSettings, build


@pytest.fixture(scope="session")
def invented_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four scenes; read-only."""
    root = tmp_path_factory.mktemp("invented") / "raw"
    for i in range(4):
        synthetic.write_scene(root, f"s{i}", objects=5 + i)
    return root


@pytest.fixture(scope="session")
def invented(invented_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset built from them with one worker; read-only."""
    out = tmp_path_factory.mktemp("built") / "out"
    build([invented_root], out, BuildSettings(), sources=synthetic.SOURCES)
    return out
