"""The worked example of docs/READERS.md: a reader in a package of its own, found by its entry point."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from scannet_tools.ply import write_ply
from spacecast.frames import Intrinsics, Transform

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "plain_scans"
CAMERA = Intrinsics(280.0, 280.0, 159.5, 119.5, 320, 240)
# id, label, centre and size in metres, written down: a bedroom of 5 by 4 m around the origin, seen from two corners.
THINGS = [
    (7, "floor", (0.0, 0.0, -0.02), (5.0, 4.0, 0.04)),
    (0, "bed", (-1.4, 1.0, 0.25), (2.0, 1.6, 0.5)),
    (1, "desk", (1.6, 1.4, 0.37), (1.2, 0.6, 0.74)),
    (2, "table lamp", (1.9, 1.4, 0.94), (0.2, 0.2, 0.4)),
    (3, "office chair", (1.4, 0.3, 0.45), (0.5, 0.5, 0.9)),
    (5, "trash can", (2.1, -0.6, 0.2), (0.3, 0.3, 0.4)),
    (12, "suitcase", (-0.9, -1.2, 0.35), (0.3, 0.5, 0.7)),
    (13, "dresser", (0.6, -1.6, 0.45), (0.9, 0.4, 0.9)),
]
CAMERAS = {"a": (-2.3, -1.8, 1.7), "c": (2.3, 1.8, 1.7), "e": (0.0, -1.9, 1.8)}


def grid_box(center, size, count: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Six faces, each a grid of ``count`` by ``count`` vertices that looks outward."""
    steps = np.linspace(-0.5, 0.5, count)
    u, v = (axis.ravel() for axis in np.meshgrid(steps, steps, indexing="ij"))
    at = np.arange(count * count).reshape(count, count)
    a, b, c, d = at[:-1, :-1].ravel(), at[1:, :-1].ravel(), at[1:, 1:].ravel(), at[:-1, 1:].ravel()
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    points, triangles = [], []
    for axis in range(3):
        for side in (-0.5, 0.5):
            plane = np.zeros((count * count, 3))
            plane[:, axis], plane[:, (axis + 1) % 3], plane[:, (axis + 2) % 3] = side, u, v
            triangles.append((faces if side > 0 else faces[:, ::-1]) + len(points) * count * count)
            points.append(plane)
    return np.concatenate(points) * size + center, np.concatenate(triangles)


def write_scan(folder: Path) -> None:
    """The bedroom as the files of the example; the pose of ``lost`` is no pose, and ``e`` has no photo."""
    (folder / "photos").mkdir(parents=True)
    vertices, faces, ids = [], [], []
    for number, _, center, size in THINGS:
        points, triangles = grid_box(center, size)
        faces.append(triangles + sum(map(len, vertices)))
        vertices.append(points)
        ids.append(np.full(len(points), number))
    merged = np.concatenate(vertices)
    colors = np.random.Generator(np.random.Philox(7)).integers(40, 220, (len(merged), 3)).astype(np.uint8)
    write_ply(folder / "mesh.ply", merged, np.concatenate(faces), colors)
    np.save(folder / "instances.npy", np.concatenate(ids))
    (folder / "labels.txt").write_text("".join(f"{number} {label}\n" for number, label, *_ in THINGS))
    lines = [" ".join(map(str, (CAMERA.fx, CAMERA.fy, CAMERA.cx, CAMERA.cy, CAMERA.width, CAMERA.height)))]
    for name, position in CAMERAS.items():
        matrix = Transform.looking_at(position, (0.0, 0.0, 0.3)).matrix
        lines.append(f"{name} {' '.join(map(repr, matrix.ravel().tolist()))}")
    (folder / "poses.txt").write_text("\n".join([*lines, "lost" + " -inf" * 16]) + "\n")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that has the example installed, and ``ROOT``: a folder with a scan of it.

    Installed is: the module and its metadata beside each other on the path, as ``pip install --target`` leaves them.
    """
    base = tmp_path_factory.mktemp("outside")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = base / "site" / f"plain_scans-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (base / "site" / "plain_scans.py").write_text((EXAMPLE / "plain_scans.py").read_text())
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"]
    lines = [line for name, rows in groups.items() for line in (f"[{name}]", *(f"{k} = {v}" for k, v in rows.items()))]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    path = os.pathsep.join(filter(None, (str(base / "site"), str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "ROOT": str(base / "scans")}
    write_scan(base / "scans" / "bedroom")
    take_photos = (
        "import sys; from pathlib import Path; from spacecast import Scene, open_scan;"
        "from spacecast.sight import Camera, SceneColors, picture; from scannet_tools.pictures import encode_color;"
        "scan = open_scan(sys.argv[1]); scene = Scene.from_scan(scan); colors = SceneColors.from_scan(scan);"
        "[(Path(sys.argv[1]) / 'photos' / f'{v.name}.jpg').write_bytes(encode_color(picture(scene,"
        " Camera(v.world_from_camera, v.intrinsics), colors), 'JPEG')) for v in scan.views.values() if v.name != 'e']"
    )
    subprocess.run([sys.executable, "-c", take_photos, str(base / "scans" / "bedroom")], env=environment, check=True)
    return environment


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from spacecast.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_the_example_is_short_and_is_what_the_page_shows() -> None:
    text = (EXAMPLE / "plain_scans.py").read_text()
    assert len(text.splitlines()) <= 60
    assert text in (ROOT / "docs" / "READERS.md").read_text()


def test_check_lists_what_is_there_and_what_it_costs(plain: dict[str, str]) -> None:
    done = run(plain, "check", plain["ROOT"])
    assert done.returncode == 0, done.stderr
    for word in ("bedroom", "lost_pose", "missing_photo"):
        assert word in done.stdout


def test_scene_shows_the_objects_and_who_carries_whom(plain: dict[str, str]) -> None:
    done = run(plain, "scene", plain["ROOT"], "bedroom")
    assert done.returncode == 0, done.stderr
    assert "table lamp" in done.stdout
    assert "supported_by" in done.stdout


def test_a_direction_is_the_one_written_down(plain: dict[str, str]) -> None:
    """From the suitcase at (-0.9, -1.2) the trash can at (2.1, -0.6) is 79 degrees clockwise of north: east."""
    done = run(plain, "ask", plain["ROOT"], "bedroom", "direction", "trash can", "--reference", "suitcase")
    assert done.returncode == 0, done.stderr
    assert "east" in done.stdout.split()


def test_build_and_verify_take_it_like_any_other(plain: dict[str, str], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    out = tmp_path / "benchmark"
    done = run(plain, "build", plain["ROOT"], str(out), "--workers", "1", "--questions", "12", "--quiet")
    assert done.returncode == 0, done.stderr
    rows = [row for path in sorted((out / "data").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    assert len(rows) >= 6
    assert {row["dataset"] for row in rows} == {"plain"}
    assert {name for row in rows for name in [row["image_name"], row["main_image_a_name"]] if name} <= {"a", "c"}
    done = run(plain, "verify", str(out), plain["ROOT"], "--workers", "1", "--quiet")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_scan_that_is_none_is_one_line(plain: dict[str, str], tmp_path: Path) -> None:
    write_scan(tmp_path / "scans" / "broken")
    (tmp_path / "scans" / "broken" / "labels.txt").write_text("seven floor\n")
    done = run(plain, "scene", str(tmp_path / "scans"), "broken")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "not a plain scan" in line
    assert "READERS.md" in line
