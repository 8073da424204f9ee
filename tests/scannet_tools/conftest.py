"""A demo room in both layouts, made once a test run."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from scannet_tools.demo import write
from scannet_tools.demo.site import site_of
from scannet_tools.ply import read_ply
from spacecast.sight.rays import RayScene

SEED = 3


@dataclass
class Written:
    root: Path
    folder: Path
    other: Path
    """The same room's ScanNet folder."""
    site: object
    truth: dict
    vertices: np.ndarray
    colors: np.ndarray
    rays: RayScene

    def json(self, name):
        return json.loads((self.folder / name).read_text())

    def seen_from(self, eye):
        """Numbers of vertices (every seventh) with nothing of the mesh before them."""
        some = np.arange(0, len(self.vertices), 7)
        t = self.rays.cast(eye, self.vertices[some] - eye).t
        return some[t > 0.995]


def half_a_walk(*key):
    """The room, with every second frame of its walk, to be quick."""
    site = site_of(*key)
    return replace(site, poses=site.poses[::2], lost=frozenset({9}))


@pytest.fixture(scope="session")
def scan(once):
    """Scene 0 in both layouts."""

    def make(root):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(write, "site_of", half_a_walk)
            write.write_demo(root, 1, SEED, layout="both")

    root = once("demo-room", make)
    (other,), (folder,) = (root / "scans").iterdir(), (root / "data").iterdir()
    mesh = read_ply(folder / "scans" / "mesh_aligned_0.05.ply")
    return Written(
        root,
        folder,
        other,
        half_a_walk(SEED, 0),
        json.loads((folder / "truth.json").read_text()),
        mesh.vertices.astype(float),
        mesh.colors,
        RayScene(mesh.vertices, mesh.faces),
    )
