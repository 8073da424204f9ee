"""Question types about a change, in rooms that are nothing but points on a plan; as skewed as real ones.

Twelve things stand about a room of 6 m by 5 m, each fourth carried by the one before it. What is nearer than 0.5 m to
another may not be moved there; directions are asked where they are at most 0.7 of the way to a border, before and
after. So short moves leave more relations as they were, and few end up opposite to where they went, as in real rooms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from spacecast.dataset.chance import generator
from spacecast.dataset.types import Choice, Draft, MaxUnchanged, Quota, Suite, ViewUse
from spacecast.frames import COMPASS, SECTORS

STEPS = ("forward", "forward-right", "right", "backward-right", "backward", "backward-left", "left", "forward-left")
BINS = ("very close", "close", "moderate", "far")
PAIRS = ("first by second", "second by first", "neither")
STATES = ("not occluded", "occluded", "not visible")
DISTANCES_M = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
THINGS, VIEWS, ROOM_M = 12, 4, (6.0, 5.0)


class Room:
    """Where things are, and where four cameras stand and look."""

    def __init__(self, name: str, things: int = THINGS) -> None:
        draw = generator("room", name)
        self.name = name
        self.at = draw.uniform(0.3, 1.0, (things, 2)) * np.array(ROOM_M) * 0.95
        self.carrier = np.array([i - 1 if i % 4 == 3 else -1 for i in range(things)])
        for i in np.flatnonzero(self.carrier >= 0):
            self.at[i] = self.at[self.carrier[i]] + draw.uniform(-0.2, 0.2, 2)
        self.cameras = draw.uniform(0.1, 0.9, (VIEWS, 2)) * np.array(ROOM_M)
        self.headings = draw.uniform(0.0, 360.0, VIEWS)
        """Clockwise from north."""

    @property
    def roots(self) -> np.ndarray:
        return np.flatnonzero(self.carrier < 0)


def compass_deg(vectors: np.ndarray) -> np.ndarray:
    """(n, 2) -> (n,) clockwise from north."""
    return np.degrees(np.arctan2(vectors[..., 0], vectors[..., 1])) % 360.0


def sectors(angles_deg: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of the sector, and how far it is to the border."""
    number = np.rint(angles_deg / 45.0).astype(int)
    return number % 8, np.abs(angles_deg - 45.0 * number) / 22.5


def moves(room: Room) -> SimpleNamespace:
    """All feasible moves with a query that goes along and a reference that stays, as arrays."""
    query, reference, direction, step, view = (
        a.reshape(-1) for a in np.meshgrid(*map(np.arange, (THINGS, THINGS, 8, 6, VIEWS)), indexing="ij")
    )
    mover = np.where(room.carrier[query] < 0, query, room.carrier[query])
    own = np.where(room.carrier[reference] < 0, reference, room.carrier[reference])
    keep = (mover != own) & ((query * 5 + reference * 3 + direction + step) % VIEWS == view)
    found = SimpleNamespace(
        query=query[keep], reference=reference[keep], direction=direction[keep], step=step[keep],
        view=view[keep], mover=mover[keep],
    )  # fmt: skip
    return found


def shifted(room: Room, found: SimpleNamespace, turn_deg: np.ndarray) -> SimpleNamespace:
    """The same with where the query is before and after; directions count clockwise from ``turn_deg``."""
    angle = np.radians(45.0 * found.direction + turn_deg)
    vector = DISTANCES_M[found.step][:, None] * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    ends = room.at[found.mover] + vector
    inside = ((ends > 0.2) & (ends < np.array(ROOM_M) - 0.2)).all(axis=1)
    apart = np.linalg.norm(ends[:, None] - room.at[room.roots][None], axis=2)
    clear = ((apart > 0.5) | (room.roots[None] == found.mover[:, None])).all(axis=1)
    keep = inside & clear
    out = SimpleNamespace(**{name: values[keep] for name, values in vars(found).items()})
    out.before, out.after = room.at[out.query], room.at[out.query] + vector[keep]
    out.turn = turn_deg[keep]
    return out


@dataclass(frozen=True)
class Changed(ABC):
    """What the types share."""

    code: str = ""
    name: str = ""
    level: str = "L2"
    version: int = 1
    task: str = "direction"
    option_count: int = 4
    multi_select: bool = False
    needs_north: bool = False

    def enumerate(self, context: Any) -> Iterator[Draft]:
        return self.drafts(context.room)

    @abstractmethod
    def drafts(self, room: Room) -> Iterator[Draft]:
        """What is asked in a room."""


def fours(value: str, names: tuple[str, ...]) -> tuple[Choice, ...]:
    shown = names[names.index(value) % 2 :: 2]
    return tuple(Choice(name, None if name == value else "other") for name in shown)


def draft(  # noqa: PLR0917
    room: Room,
    ids: tuple[int, ...],
    view: int,
    before: str,
    after: str,
    choices: tuple[Choice, ...],
    stated: dict[str, str],
    *,
    kind: str = "direction",
    moved: tuple[int, ...] = (),
    relative: int | None = None,
    preference: int = 0,
) -> Draft:
    return Draft(
        case="-".join(map(str, (*ids, view, *stated.values()))),
        views=(ViewUse(str(view), "image"),),
        facts={
            "objects": [
                {"id": i, "label": f"thing {i}", "raw_label": "thing", "roles": ["target"], "obb": {"size": [1.0] * 3}}
                for i in ids
            ],
            "views": [{"name": str(view), "role": "image"}],
            "frame": None,
            "intervention": {"kind": "move", "moved": list(moved)} if moved else {"kind": "rotate_layout"},
            "relation": {
                "kind": kind, "target": ids[0], "reference": ids[-1],
                "before": {"value": before}, "after": {"value": after},
            },
            "twin": {"value": before, "question_uid": None},
            "margins": {},
        },
        choices=choices,
        words={f"named{k}": i for k, i in enumerate(ids)},
        stated=stated,
        balance=after,
        likeness="-".join(map(str, ids)),
        preference=preference,
        relative=None if relative is None else str(relative % 8 * 45),
        unchanged=before == after,
    )  # fmt: skip


def said(found: SimpleNamespace, i: int, names: tuple[str, ...]) -> dict[str, str]:
    return {"direction": names[found.direction[i]], "distance": str(DISTANCES_M[found.step[i]])}


def together(room: Room, mover: int) -> tuple[int, ...]:
    return (int(mover), *map(int, np.flatnonzero(room.carrier == mover)))


@dataclass(frozen=True)
class MoveDirection(Changed):
    """By the compass, in the camera's heading, or in the query's own, which faces the camera at first."""

    frame: str = "world"

    def drafts(self, room: Room) -> Iterator[Draft]:
        found = moves(room)
        turn = np.zeros(len(found.view))
        if self.frame == "camera":
            turn = room.headings[found.view]
        if self.frame == "object":
            turn = compass_deg(room.cameras[found.view] - room.at[found.mover])
        found = shifted(room, found, turn)
        sign = -1.0 if self.frame == "object" else 1.0
        reference = room.at[found.reference]
        old, off_old = sectors((compass_deg(sign * (found.before - reference)) - found.turn) % 360.0)
        new, off_new = sectors((compass_deg(sign * (found.after - reference)) - found.turn) % 360.0)
        near = np.minimum(*(np.linalg.norm(at - reference, axis=1) for at in (found.before, found.after)))
        names = COMPASS if self.frame == "world" else SECTORS
        steps = COMPASS if self.frame == "world" else STEPS
        compass, _ = sectors(room.headings)
        for i in np.flatnonzero((off_old <= 0.7) & (off_new <= 0.7) & (near > 0.5)):
            stated = said(found, i, steps)
            if self.frame == "world":
                stated["camera_compass"] = COMPASS[compass[found.view[i]]]
            ids = tuple(map(int, dict.fromkeys((found.query[i], found.mover[i], found.reference[i]))))
            yield draft(
                room, ids, int(found.view[i]), names[old[i]], names[new[i]], fours(names[new[i]], names), stated,
                moved=together(room, found.mover[i]), relative=int(new[i] - found.direction[i]),
                preference=int(found.query[i] == found.mover[i]),
            )  # fmt: skip


@dataclass(frozen=True)
class MoveDistance(Changed):
    """The bin changes by one."""

    task: str = "distance"

    def drafts(self, room: Room) -> Iterator[Draft]:
        found = moves(room)
        found = shifted(room, found, room.headings[found.view])
        reference = room.at[found.reference]
        lengths = [np.linalg.norm(at - reference, axis=1) - 0.5 for at in (found.before, found.after)]
        edges = np.array([1.0, 2.0, 3.3])
        old, new = (np.searchsorted(edges, length) for length in lengths)
        certain = np.ones(len(old), dtype=bool)
        for length in lengths:
            certain &= (np.abs(length[:, None] - edges).min(axis=1) >= 0.1) & (length >= 0.2)
        for i in np.flatnonzero(certain & (np.abs(old - new) == 1)):
            ids = tuple(map(int, dict.fromkeys((found.query[i], found.mover[i], found.reference[i]))))
            yield draft(
                room, ids, int(found.view[i]), BINS[old[i]], BINS[new[i]],
                tuple(Choice(name, None if name == BINS[new[i]] else "other") for name in BINS), said(found, i, STEPS),
                kind="distance", moved=together(room, found.mover[i]),
                preference=int(found.query[i] == found.mover[i]),
            )  # fmt: skip


@dataclass(frozen=True)
class MoveOcclusion(Changed):
    """Seen under nearly the same angle, the farther one is hidden."""

    task: str = "occlusion"
    option_count: int = 3

    def drafts(self, room: Room) -> Iterator[Draft]:
        found = moves(room)
        found = shifted(room, found, room.headings[found.view])
        camera, reference = room.cameras[found.view], room.at[found.reference]
        seen = []
        for at in (found.before, found.after):
            angle = (compass_deg(at - camera) - compass_deg(reference - camera) + 180.0) % 360.0 - 180.0
            nearer = np.linalg.norm(at - camera, axis=1) < np.linalg.norm(reference - camera, axis=1)
            seen.append(np.where(np.abs(angle) < 8.0, np.where(nearer, 1, 0), np.where(np.abs(angle) > 15.0, 2, -1)))
        motion = np.array(["away", "away", "sideways", "towards", "towards", "towards", "sideways", "away"])
        for i in np.flatnonzero((seen[0] >= 0) & (seen[1] >= 0)):
            stated = {**said(found, i, STEPS), "motion": str(motion[found.direction[i]])}
            ids = tuple(map(int, dict.fromkeys((found.query[i], found.mover[i], found.reference[i]))))
            old, new = PAIRS[seen[0][i]], PAIRS[seen[1][i]]
            yield draft(
                room, ids, int(found.view[i]), old, new,
                tuple(Choice(name, None if name == new else "other") for name in PAIRS), stated,
                kind="pairwise_occlusion", moved=together(room, found.mover[i]),
                preference=int(found.query[i] == found.mover[i]),
            )  # fmt: skip


@dataclass(frozen=True)
class RemoveOcclusion(Changed):
    """Most targets are still occluded; few are gone with what carried them."""

    task: str = "occlusion"
    option_count: int = 3

    def drafts(self, room: Room) -> Iterator[Draft]:
        for remover in room.roots:
            gone = together(room, remover)
            for target in range(THINGS):
                for view in range(VIEWS):
                    draw = generator("remove", room.name, int(remover), target, view)
                    after = "not visible" if target in gone[1:] else str(draw.choice(STATES[:2], p=[0.1, 0.9]))
                    if target == remover or draw.random() < 0.5:
                        continue
                    choices = tuple(Choice(state, None if state == after else "other") for state in STATES)
                    yield draft(
                        room, (target, int(remover)), view, "occluded", after, choices, {}, kind="occlusion", moved=gone
                    )


@dataclass(frozen=True)
class Rotate(Changed):
    """Level 3 by the compass: the layout turns."""

    level: str = "L3"

    def drafts(self, room: Room) -> Iterator[Draft]:
        compass, _ = sectors(room.headings)
        for one in range(THINGS):
            for other in range(THINGS):
                apart = room.at[one] - room.at[other]
                if one == other or np.linalg.norm(apart) < 0.5:
                    continue
                number, off = sectors(compass_deg(apart[None]))
                if off[0] > 0.7:
                    continue
                for turns in (1, 2, 3):
                    for view in range(VIEWS):
                        old, new = COMPASS[number[0]], COMPASS[(number[0] + 2 * turns) % 8]
                        stated = {"angle": str(90 * turns), "camera_compass": COMPASS[compass[view]]}
                        yield draft(room, (one, other), view, old, new, fours(new, COMPASS), stated)


@dataclass(frozen=True)
class Orbit(Changed):
    """The mover goes round the faced thing and faces it again; where is the reference?"""

    def drafts(self, room: Room) -> Iterator[Draft]:
        for mover in room.roots:
            for around in room.roots:
                if around == mover:
                    continue
                start = room.at[mover] - room.at[around]
                for turn in (-135, -90, -45, 45, 90, 135, 180):
                    angle = np.radians(compass_deg(start[None])[0] + turn)
                    end = room.at[around] + np.linalg.norm(start) * np.array([np.sin(angle), np.cos(angle)])
                    if not ((end > 0.2) & (end < np.array(ROOM_M) - 0.2)).all():
                        continue
                    for reference in set(range(THINGS)) - {int(mover), int(around)}:
                        answers = []
                        for at in (room.at[mover], end):
                            facing = compass_deg((room.at[around] - at)[None])
                            number, off = sectors((compass_deg((room.at[reference] - at)[None]) - facing) % 360.0)
                            answers.append((SECTORS[number[0]], off[0]))
                        (old, off_old), (new, off_new) = answers
                        if max(off_old, off_new) > 0.7 or old == new:
                            continue
                        sense = "clockwise" if turn > 0 else "counterclockwise"
                        stated = {"angle": str(abs(turn))} | ({} if turn == 180 else {"sense": sense})
                        yield draft(
                            room, (int(mover), int(around), reference), (int(mover) + reference) % VIEWS, old, new,
                            fours(new, SECTORS), stated, moved=together(room, mover),
                        )  # fmt: skip


TYPES = (
    MoveDirection("object_move_agent", "Move Camera Direction", frame="camera"),
    MoveDirection("object_move_object_centric", "Move Object Direction", frame="object"),
    Orbit("object_rotate_object_centric", "Rotate Object Direction"),
    MoveDirection("object_move_allocentric", "Move World Direction", frame="world"),
    MoveDistance("object_move_distance", "Move Distance"),
    MoveOcclusion("object_move_occlusion", "Move Occlusion"),
    RemoveOcclusion("object_remove", "Remove Occlusion"),
    Rotate("coordinate_rotation_allocentric", "Rotate World Direction"),
)
QUARTER = ("object_move_agent", "object_move_object_centric", "object_move_allocentric", "object_move_occlusion")
NONE = ("object_rotate_object_centric", "object_move_distance", "coordinate_rotation_allocentric")


def word(code: str, draft: Draft, language: str, draw: np.random.Generator) -> tuple[str, str, tuple[str, ...]]:
    names = [f"thing {value}" for key, value in sorted(draft.words.items())]
    stated = ", ".join(f"{key} {value}" for key, value in sorted(draft.stated.items()) if key != "motion")
    number = int(draw.integers(3))
    question = f"{('Say', 'Tell', 'And')[number]}: {stated}. How is it now with {', '.join(names)}?"
    return f"{code}.{number}", question, tuple(choice.value for choice in draft.choices)


SUITE = Suite(
    name="changes",
    version=1,
    types=TYPES,
    quotas=tuple(Quota(kind.code, 264) for kind in TYPES),
    word=word,
    languages=("en",),
    max_unchanged=(*(MaxUnchanged(code, 1 / 4) for code in QUARTER), *(MaxUnchanged(code, 0.0) for code in NONE)),
)
