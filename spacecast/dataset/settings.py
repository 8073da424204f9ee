"""What a build is told, and where its scans, contexts and suites come from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacecast.dataset.rows import canonical_json
from spacecast.dataset.types import Language, Suite

if TYPE_CHECKING:
    from spacecast.dataset.evidence import Survey
    from spacecast.scan import Scan

Pictures = Literal["photos", "render"]
Painter = Callable[[Mapping[str, Any]], NDArray[np.uint8]]
"""An entry of ``facts.views`` -> (height, width, 3) uint8, drawn from the mesh."""


@dataclass(frozen=True)
class BuildSettings:
    """What a build is told.

    Attributes:
        suite: name of a registered suite.
        questions: how many in all; None for the suite's own numbers, as far as the scans allow.
        scenes: use at most this many scenes, drawn (see ``dataset.draw``); None for all.
        per_dataset: (dataset, weight) of the number of questions, one for each dataset that there are scans of; empty
            for the suite's own shares. Where ``questions`` is None the weights are the numbers.
        excluded_rooms: rooms whose scans are not used, as ``draw.rooms_of`` gives them.
        seed: the only source of chance.
        workers: processes; changes no byte of the output.
        scheduler: address of a Dask scheduler whose workers do the scenes' work in place of ``workers``; they have to
            see the scans and the folder that is written under the same paths.
        cameras: whose pictures are shown, of scans that have several cameras; None: as their readers choose.
        pictures: ``photos`` as taken, or ``render`` for pictures drawn from the mesh for every pose.
        language: of questions and options.
        resume: keep finished scenes of an interrupted build in the same folder.
        evidence: also write metadata and a map per question.
    """

    suite: str = "spacecast"
    questions: int | None = None
    scenes: int | None = None
    per_dataset: tuple[tuple[str, int], ...] = ()
    excluded_rooms: tuple[str, ...] = ()
    seed: int = 0
    workers: int = 1
    scheduler: str | None = None
    cameras: str | None = None
    pictures: Pictures = "photos"
    language: Language = "en"
    resume: bool = False
    evidence: bool = False

    def shown(self) -> dict[str, Any]:
        """What of these settings makes a difference to the output; goes into the manifest."""
        return {
            "suite": self.suite,
            "questions": self.questions,
            "scenes": self.scenes,
            "per_dataset": dict(sorted(self.per_dataset)),
            "excluded_rooms": digest_of(sorted(self.excluded_rooms)) if self.excluded_rooms else None,
            "seed": self.seed,
            "cameras": self.cameras,
            "pictures": self.pictures,
            "language": self.language,
            "evidence": self.evidence,
        }


class Folder(NamedTuple):
    """A scene on disk."""

    dataset: str
    scene_id: str
    path: Path
    room_id: str = ""
    """Scans of one room share it; empty where the scene is a room of its own."""
    cameras: str = ""
    """Whose pictures are taken; empty where there is nothing to choose, or nothing was chosen."""

    @property
    def key(self) -> str:
        """Unique name of the scene: ``scannet-scene0000_00``."""
        return f"{self.dataset}-{self.scene_id}"

    @property
    def room(self) -> str:
        """The room's id."""
        return self.room_id or self.scene_id

    @property
    def room_key(self) -> str:
        """Unique name of the room: ``scannet-scene0000``."""
        return f"{self.dataset}-{self.room}"


def _no_cameras(folder: Folder, cameras: str) -> Folder:
    return folder


@dataclass(frozen=True)
class Sources:
    """Where scans, contexts and suites come from; functions of modules, so that workers can be given them."""

    find: Callable[[Path], list[Folder]]
    read: Callable[[Folder], Scan]
    context: Callable[[Scan, Pictures], Any]
    painter: Callable[[Scan], Painter]
    surveyor: Callable[[Scan], Survey]
    """A scan -> what evidence is made from."""
    suite: Callable[[str], Suite]
    packages: Callable[[Suite, list[str]], list[str]]
    """Names of the packages that ask the questions of a suite and read the datasets named."""
    choose: Callable[[Folder, str], Folder] = _no_cameras
    """A scene that will be read with the cameras chosen; as it is where it has not several."""


def digest_of(value: Any) -> str:
    """Hex digest of a value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def _find(root: Path) -> list[Folder]:
    from spacecast.registry import find_scans

    found = find_scans(root)
    return [Folder(reader.name, scene, path, reader.room_of(scene)) for scene, (reader, path) in found.items()]


def _read(folder: Folder) -> Scan:
    from spacecast.registry import load

    scan: Scan = load("spacecast.readers", folder.dataset).choosing(folder.cameras).read(folder.path)
    return scan


def _choose(folder: Folder, cameras: str) -> Folder:
    from spacecast.registry import load

    chosen = load("spacecast.readers", folder.dataset).choosing(cameras)
    return folder._replace(cameras=cameras if chosen.cameras else "")


def _context(scan: Scan, pictures: Pictures) -> Any:
    from spacecast.dataset.context import SceneContext

    return SceneContext(scan, pictures=pictures)


def _painter(scan: Scan) -> Painter:
    from spacecast.frames import Intrinsics, Transform
    from spacecast.scene import Scene
    from spacecast.sight import Camera, SceneColors, picture

    scene, colors = Scene.from_scan(scan), SceneColors.from_scan(scan)

    def paint(view: Mapping[str, Any]) -> NDArray[np.uint8]:
        matrix = np.reshape(view["world_from_camera"], (4, 4))
        pixel = np.reshape(view["pixel_from_camera"], (3, 3))
        intrinsics = Intrinsics(
            fx=pixel[0, 0], fy=pixel[1, 1], cx=pixel[0, 2], cy=pixel[1, 2], width=view["width"], height=view["height"]
        )
        camera = Camera(Transform.from_matrix(matrix, target="world", source="camera"), intrinsics)
        return picture(scene, camera, colors, threads=1)

    return paint


def _surveyor(scan: Scan) -> Survey:
    from spacecast.dataset.evidence import survey

    return survey(scan)


def _suite(name: str) -> Suite:
    from spacecast.registry import load

    suite: Suite = load("spacecast.suites", name)
    return suite


def _packages(suite: Suite, datasets: list[str]) -> list[str]:
    from spacecast.registry import load

    modules = [type(kind).__module__ for kind in suite.types] + [suite.word.__module__]
    modules += [load("spacecast.readers", dataset).read.__module__ for dataset in datasets]
    return sorted({module.partition(".")[0] for module in modules})


REGISTERED = Sources(
    find=_find,
    read=_read,
    context=_context,
    painter=_painter,
    surveyor=_surveyor,
    suite=_suite,
    packages=_packages,
    choose=_choose,
)
"""Through the entry points."""
