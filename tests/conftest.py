"""Demo scans and a benchmark built from them, made once a test run and shared by its processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from questions.fair import FairSettings

# The same examples in every run, and no deadline: a loaded machine is not a fault.
settings.register_profile("spacecast", deadline=None, derandomize=True)
settings.load_profile("spacecast")

REAL = Path(__file__).parent.parent.parent / "shared" / "real"
"""Real scan data; absent on most machines, and then the tests on it skip, saying so."""

DEMO_SCENES = 4
PROCESSES = 2
"""That make what is shared: other tests often wait for it. What is made does not depend on it, which tests say."""


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder with real data; skips where it is absent."""
    if not REAL.is_dir():
        pytest.skip(f"no real scan data at {REAL}")
    return REAL


@pytest.fixture(scope="session")
def real_scans(real: Path) -> Path:
    """The root of the real scans."""
    return real / "scannet"


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """``once(name, make)``: a folder that the first process to ask for it makes, and the others wait for."""
    return partial(_once, tmp_path_factory)


def _once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first process to ask for it makes, and the others wait for."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder, done, failed = shared / name, shared / f"{name}.done", shared / f"{name}.failed"
    try:
        folder.mkdir()
    except FileExistsError:
        while not done.exists():
            if failed.exists():
                pytest.fail(f"another process failed to make {name}: {failed.read_text()}")
            time.sleep(0.2)
        return folder
    try:
        make(folder)
    except BaseException as error:
        failed.write_text(repr(error))
        raise
    done.touch()
    return folder


@pytest.fixture(scope="session")
def demo_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of a few demo scans, ScanNet layout, seed 0; read-only."""
    from scannet_tools.demo import write_demo

    return _once(
        tmp_path_factory, "demo-scans", lambda folder: write_demo(folder, DEMO_SCENES, seed=0, workers=PROCESSES)
    )


@pytest.fixture(scope="session")
def demo_benchmark(tmp_path_factory: pytest.TempPathFactory, demo_root: Path) -> Path:
    """A benchmark built from the demo scans; read-only: copy it before you change it."""
    from spacecast.dataset.build import BuildSettings, build

    return (
        _once(
            tmp_path_factory,
            "demo-benchmark",
            lambda folder: build([demo_root], folder / "out", BuildSettings(workers=PROCESSES, evidence=True)),
        )
        / "out"
    )


@pytest.fixture
def all_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types about a change offer all that they find, however much it is."""
    monkeypatch.setattr("questions.fair.SETTINGS", FairSettings(max_drafts=100_000, max_chain_drafts=100_000))
