"""Scans, a context and a suite made of nothing but numbers: what the builder does is seen without any geometry.

A scene is a folder with ``objects`` (how many), photos ``0.jpg`` ..., and perhaps a file that makes it fail: ``broken``
(bad input), ``bug`` (a fault of the code), ``deadly`` (its process dies), ``deadly_once``. The real Scan, rows, files
and processes are used; only what a question is about is invented.
"""

from __future__ import annotations

import io
import itertools
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image

from spacecast.dataset.chance import generator
from spacecast.dataset.evidence import Survey
from spacecast.dataset.settings import Folder, Sources
from spacecast.dataset.types import Choice, Draft, MaxShare, MaxUnchanged, Quota, Refusal, Suite, ViewUse
from spacecast.errors import InputError
from spacecast.frames import COMPASS, SECTORS, Intrinsics, Transform
from spacecast.scan import Instance, Problem, Scan, View
from spacecast.sight import MapFrame

WIDTH, HEIGHT = 64, 48


def write_scene(root: Path, scene_id: str, *, objects: int = 6, photos: int = 4) -> Path:
    folder = root / scene_id
    folder.mkdir(parents=True)
    (folder / "objects").write_text(str(objects))
    for i in range(photos):
        pixels = generator("photo", scene_id, i).integers(0, 256, (HEIGHT // 8, WIDTH // 8, 3), dtype=np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(pixels).resize((WIDTH, HEIGHT)).save(buffer, format="JPEG")
        (folder / f"{i}.jpg").write_bytes(buffer.getvalue())
    return folder


def find(root: Path) -> list[Folder]:
    return [Folder("synthetic", path.name, path) for path in root.iterdir() if (path / "objects").exists()]


def read(folder: Folder) -> Scan:
    path = folder.path
    if (path / "broken").exists():
        raise InputError(f"{path}/objects: holds no number; copy the scene again")
    if (path / "bug").exists():
        raise KeyError(f"{path} is not in the table")
    if (path / "deadly").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if (path / "deadly_once").exists():
        (path / "deadly_once").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    count = int((path / "objects").read_text())
    views = {}
    for photo in sorted(path.glob("*.jpg")):
        views[photo.stem] = View(
            photo.stem,
            Transform.from_yaw_deg(10.0 * int(photo.stem), target="world", source="camera"),
            Intrinsics(50.0, 50.0, 31.5, 23.5, WIDTH, HEIGHT),
            load_color=lambda photo=photo: np.asarray(Image.open(photo)),
            load_encoded=photo.read_bytes,
        )
    return Scan(
        dataset=folder.dataset,
        scene_id=folder.scene_id,
        room_id=folder.scene_id,
        vertices=np.zeros((3, 3), np.float32),
        faces=np.array([[0, 1, 2]], np.int32),
        colors=np.zeros((3, 3), np.uint8),
        instance_ids=np.full(3, 1 if count else -1, np.int32),
        instances={i: Instance(i, f"thing {i}", f"thing {i}") for i in range(1, count + 1)},
        world_from_scan=Transform.identity(target="world", source="scan"),
        is_aligned=not (path / "crooked").exists(),
        has_labels=not (path / "unlabelled").exists(),
        views=views,
        problems=(Problem("lost_pose", "9", "not finite; left out"),),
        input_files={"objects": path / "objects"},
    )


def context(scan: Scan, pictures: str) -> Any:
    return SimpleNamespace(
        scan=scan,
        view_refusals=(Refusal("view", "blurred", "7"),),
        object_refusals=(Refusal("object", "small", "crumb 99"),),
    )


def facts(scan: Scan, view: str, ids: tuple[int, ...], value: str, kind: str = "direction") -> dict[str, Any]:
    camera = scan.views[view]
    box = {"min": [0.123456, -0.0, 0.0], "max": [1, 1, 1]}
    return {
        "objects": [
            {
                "id": i,
                "label": f"thing {i}",
                "raw_label": "t",
                "roles": ["target"],
                "aabb": box,
                "obb": {"center": [0.5, 0.5, 0.5], "size": [1, 1, 1], "yaw_deg": 0.0},
                "center_in_world": [0.5, 0.5, 0.5],
            }
            for i in ids
        ],
        "views": [
            {
                "name": view,
                "role": "image",
                "world_from_camera": camera.world_from_camera.matrix.reshape(-1).tolist(),
                "pixel_from_camera": camera.intrinsics.matrix.reshape(-1).tolist(),
                "width": WIDTH,
                "height": HEIGHT,
            }
        ],
        "binding_view": None,
        "camera_compass": None,
        "frame": None,
        "intervention": None,
        "attachment": [],
        "relation": {
            "kind": kind,
            "target": ids[0],
            "reference": ids[1] if len(ids) > 1 else None,
            "before": {"value": value},
            "after": None,
        },
        "twin": None,
        "margins": {"ambiguity": np.float64(sum(ids) % 7 / 10)},
    }


@dataclass(frozen=True)
class Directions:
    code: str = "direction_allocentric"
    version: int = 1
    level: str = "L1"
    name: str = "World Direction"
    task: str = "direction"
    option_count: int = 4
    multi_select: bool = False
    needs_north: bool = True

    def enumerate(self, context: Any) -> Iterator[Draft | Refusal]:
        scan = context.scan
        for (one, other), view in itertools.product(itertools.permutations(scan.instances, 2), scan.views):
            case = f"{one}-{other}-{view}"
            draw = generator("truth", scan.scene_id, one, other)
            number = min(7, int(draw.exponential(2.5)))  # a skewed world: some directions are rare
            if draw.random() < 0.3:
                yield Refusal("relation", "ambiguous", case)
                continue
            compass = COMPASS[(int(view) * 3 + number) % 8]
            value = SECTORS[number]
            choices = [Choice(SECTORS[(number + k) % 8], None if k == 0 else "other") for k in (0, 2, 4, 6)]
            yield Draft(
                case=case,
                views=(ViewUse(view, "image"),),
                facts=facts(scan, view, (one, other), value),
                choices=tuple(sorted(choices)),
                words={"target": one, "reference": other},
                stated={"camera_compass": compass},
                balance=value,
                likeness=f"{min(one, other)}-{max(one, other)}",
            )


@dataclass(frozen=True)
class Moves(Directions):
    """The same, after a move by as many eighths as is stated; asked only where level 1 asks too."""

    code: str = "object_move_allocentric"
    level: str = "L2"
    name: str = "Move World Direction"
    turns: tuple[int, ...] = (0, 0, 0, 1, 2, 5)
    """Eighths by which answers may change: half stay as they were."""

    def enumerate(self, context: Any) -> Iterator[Draft | Refusal]:
        for draft in super().enumerate(context):
            if isinstance(draft, Refusal):
                yield draft
                continue
            before = SECTORS.index(draft.balance)
            turn = self.turns[int(generator("move", context.scan.scene_id, draft.case).integers(len(self.turns)))]
            after = SECTORS[(before + turn) % 8]
            moved = draft.facts["relation"]["target"]
            yield replace(
                draft,
                facts={
                    **draft.facts,
                    "intervention": {
                        "kind": "spin",
                        "object": moved,
                        "moved": [moved],
                        "angle_deg": 90.0,
                        "sense": None,
                    },
                    "relation": {**draft.facts["relation"], "after": {"value": after}},
                    "twin": {"value": draft.balance, "question_uid": None},
                },
                choices=tuple(sorted(Choice(SECTORS[(before + turn + k) % 8], None if k == 0 else "other")
                                     for k in (0, 2, 4, 6))),
                stated={**draft.stated, "turn": str(turn)},
                balance=after,
                relative=str(45 * ((before + turn) % 8)),
                unchanged=turn == 0,
            )  # fmt: skip


@dataclass(frozen=True)
class Occlusions:
    code: str = "occlusion"
    version: int = 1
    level: str = "L1"
    name: str = "Occlusion"
    task: str = "occlusion"
    option_count: int = 3
    multi_select: bool = False
    needs_north: bool = False

    STATES = ("not occluded", "not visible", "occluded")

    def enumerate(self, context: Any) -> Iterator[Draft | Refusal]:
        scan = context.scan
        for one, view in itertools.product(scan.instances, scan.views):
            value = self.STATES[min(2, int(generator("state", scan.scene_id, one, view).exponential(0.8)))]
            yield Draft(
                case=f"{one}-{view}",
                views=(ViewUse(view, "image"),),
                facts=facts(scan, view, (one,), value, "occlusion"),
                choices=tuple(Choice(state, None if state == value else "other") for state in self.STATES),
                words={"target": one},
                stated={},
                balance=value,
                likeness=str(one),
            )


@dataclass(frozen=True)
class Attachments:
    code: str = "attachment_chain"
    version: int = 1
    level: str = "L1"
    name: str = "Attachment"
    task: str = "attachment"
    option_count: int = 3
    multi_select: bool = True
    needs_north: bool = False

    def enumerate(self, context: Any) -> Iterator[Draft | Refusal]:
        scan = context.scan
        ids = list(scan.instances)
        for mover in ids:
            for trio in itertools.combinations([i for i in ids if i != mover], 3):
                for right in (1, 2, 3):
                    yield Draft(
                        case=f"{mover}-{'-'.join(map(str, trio))}-{right}",
                        views=(ViewUse("0", "image"),),
                        facts=facts(scan, "0", (mover, *trio), str(right), "attachment"),
                        choices=tuple(Choice(str(i), None if k < right else "other") for k, i in enumerate(trio)),
                        words={"mover": mover},
                        stated={},
                        balance=str(right),
                        likeness=f"{mover}-{trio[0]}-{right}",
                        preference=0 if trio[0] % 3 == 0 else 1,
                    )


def word(code: str, draft: Draft, language: str, draw: np.random.Generator) -> tuple[str, str, tuple[str, ...]]:
    number = int(draw.integers(3))
    said = ", ".join(f"{key} thing {value}" for key, value in sorted(draft.words.items()))
    stated = ", ".join(f"{key} is {value}" for key, value in sorted(draft.stated.items()))
    question = f"{('What of', 'Tell me of', 'And')[number]} {said}? {stated}"
    return f"{code}.{number}", question, tuple(f"it is {choice.value}" for choice in draft.choices)


SUITE = Suite(
    name="synthetic",
    version=3,
    types=(Directions(), Occlusions(), Attachments()),
    quotas=(Quota("direction_allocentric", 40), Quota("occlusion", 30), Quota("attachment_chain", 21)),
    word=word,
    max_shares=(MaxShare("occlusion", "not visible", 1 / 3),),
    languages=("en",),
)


CHANGED = replace(
    SUITE,
    name="changed",
    types=(Moves(), *SUITE.types),  # level 1 is not first
    quotas=(*SUITE.quotas, Quota("object_move_allocentric", 24)),
    max_unchanged=(MaxUnchanged("object_move_allocentric", 1 / 4),),
)
NEVER_UNCHANGED = replace(
    CHANGED, name="never unchanged", max_unchanged=(MaxUnchanged("object_move_allocentric", 0.0),)
)
SUITES = {suite.name: suite for suite in (SUITE, CHANGED, NEVER_UNCHANGED)}


def suite(name: str) -> Suite:
    return SUITES.get(name, SUITE)


def painter(scan: Scan) -> Any:
    def paint(view: Mapping[str, Any]) -> np.ndarray:
        return np.full((view["height"], view["width"], 3), 10 * int(view["name"]), dtype=np.uint8)

    return paint


def surveyor(scan: Scan) -> Survey:
    box = {"center": [0.5, 0.5, 0.5], "size": [1.0, 1.0, 1.0], "yaw_deg": 0.0}
    entry = {"min": [0.123456, -0.0, 0.0], "max": [1, 1, 1], "center": [0.5, 0.5, 0.5], "obb": box, "label_zh": None}
    stands = {"support": "floor", "carrier": None, "carried_as": None}
    return Survey(
        objects={i: {"label": item.label, **entry, **stands} for i, item in scan.instances.items()},
        is_aligned=scan.is_aligned,
        room_center=None,
        frame=MapFrame(0.0, 1.0, 40.0, 40, 40),
        canvas=np.full((40, 40, 3), len(scan.instances), dtype=np.uint8),
    )


def packages(suite: Suite, datasets: list[str]) -> list[str]:
    return ["synthetic_suite"]


SOURCES = Sources(
    find=find, read=read, context=context, painter=painter, surveyor=surveyor, suite=suite, packages=packages
)
