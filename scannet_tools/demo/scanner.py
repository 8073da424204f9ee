"""What is left of a solid room after it was scanned and annotated: a noisy mesh with holes, segments, and labels that
do not quite stop at the border of their object."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from scannet_tools.demo.rooms import Layout
from scannet_tools.demo.solid import Solid

Array = NDArray[np.float64]
Chance = np.random.Generator
UNLABELLED = -1


@dataclass(frozen=True)
class ScannerSettings:
    """How scan and annotation differ from the room; all our own, after real scans."""

    noise_m: float = 0.0015
    """Standard deviation of each coordinate."""
    noise_limit_m: float = 0.004
    contact_m: float = 0.006
    """Faces that look at another one within this are buried; edges this near to a carrier are welded to it."""
    weld_reach_m: float = 0.045
    bleed_m: float = 0.024
    """How far a label runs over a border: with noise, boxes stay within 3 cm."""
    bleed_share: float = 0.4
    """Share of contacts at which a label runs over, on one side."""
    bleed_sector_deg: float = 110.0
    min_vertices: int = 60
    """A thing of which fewer were scanned is left unannotated, with what it carries."""
    segment_m: float = 0.35
    """About the side of a segment on big surfaces."""


SETTINGS = ScannerSettings()


@dataclass(frozen=True, eq=False)
class ScanMesh:
    """A scanned and annotated room, in world.

    Attributes:
        vertices: (n, 3) float64 with noise; clean: the same without.
        faces: (m, 3) int32.
        colors: (n, 3) uint8.
        owner: (n,) int32, the true owner: a number of the solid's names.
        label_owner: (n,) int32, the owner that the annotation names, -1 for none.
        segments: (n,) int64; vertices of one segment have one ``label_owner``.
    """

    vertices: Array
    clean: Array
    faces: NDArray[np.int32]
    colors: NDArray[np.uint8]
    owner: NDArray[np.int32]
    label_owner: NDArray[np.int32]
    segments: NDArray[np.int64]

    @property
    def annotated(self) -> NDArray[np.int32]:
        """Owners that the annotation names, ascending."""
        return np.unique(self.label_owner[self.label_owner != UNLABELLED])


def scanned(solid: Solid, layout: Layout, hit: NDArray[np.bool_], chance: Chance) -> ScanMesh:
    """The mesh that remains of the faces that a camera hit, and its annotation."""
    kept = _closed(solid, hit)
    used, inverse = np.unique(solid.faces[kept], return_inverse=True)
    faces = inverse.reshape(-1, 3)
    clean = solid.vertices[used]
    owner = solid.owner_of_vertex[used]
    contacts = _contacts(solid, layout)
    joined = np.concatenate([faces, _welds(clean, faces, owner, contacts)]).astype(np.int32)
    noise = np.clip(chance.normal(0, SETTINGS.noise_m, clean.shape), -SETTINGS.noise_limit_m, SETTINGS.noise_limit_m)
    label_owner = _annotated(solid, layout, owner)
    _bleed(clean, owner, label_owner, contacts, chance)
    segments = _segments(clean, label_owner, owner, chance)
    return ScanMesh(clean + noise, clean, joined, solid.colors[used], owner, label_owner, segments)


def _closed(solid: Solid, hit: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Hit faces, and those between them that the pixels missed, unless something lies on them."""
    touched = np.zeros(len(solid.vertices), dtype=bool)
    touched[solid.faces[hit]] = True
    between = np.flatnonzero(touched[solid.faces].all(axis=1) & ~hit)
    start = solid.vertices[solid.faces[between]].mean(axis=1) + solid.normals[between] * 5e-4
    probe = solid.rays.cast(start, solid.normals[between] * SETTINGS.contact_m, threads=1)
    kept = hit.copy()
    kept[between[probe.t > 1.0]] = True
    return kept


def _contacts(solid: Solid, layout: Layout) -> list[tuple[int, int]]:
    """Pairs (child, carrier) of owners that touch, the floor and the walls among the carriers."""
    floor = solid.names.index("floor")
    walls = [owner for owner, name in enumerate(solid.names) if name == "wall" and owner > floor]
    pairs = []
    for owner, placed in enumerate(layout.placed):
        if placed.parent is not None:
            pairs.append((owner, placed.parent))
        elif placed.support == "floor":
            pairs.append((owner, floor))
        else:
            point = placed.pose.origin[:2]
            away = [abs((point - wall.start) @ wall.inward) for wall in layout.room.walls]
            ends = [(point - wall.start) @ wall.along for wall in layout.room.walls]
            inside = [0 <= e <= w.length_m for e, w in zip(ends, layout.room.walls, strict=True)]
            pairs.append((owner, walls[int(np.argmin(np.where(inside, away, np.inf)))]))
    return pairs + [(wall, floor) for wall in walls]


def _welds(
    clean: Array, faces: NDArray[np.int64], owner: NDArray[np.int32], contacts: list[tuple[int, int]]
) -> NDArray[np.int64]:
    """(k, 3) faces that join the open border of a child to the nearest vertices of what carries it."""
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    unique, count = np.unique(edges[:, 0].astype(np.int64) * len(clean) + edges[:, 1], return_counts=True)
    border = np.stack(np.divmod(unique[count == 1], len(clean)), axis=1)
    by_owner = _grouped(owner)
    border_of = _grouped(owner[border[:, 0]])
    made = []
    for child, carrier in contacts:
        carrier_vertices = by_owner.get(carrier)
        own = border_of.get(child)
        if carrier_vertices is None or own is None:
            continue
        tree = cKDTree(clean[carrier_vertices])
        edge = border[own]
        far, nearest = tree.query(clean[edge].mean(axis=1), distance_upper_bound=SETTINGS.weld_reach_m)
        near = np.isfinite(far)
        edge, to = edge[near], carrier_vertices[nearest[near]]
        gap = clean[edge] - clean[to][:, None]
        level = np.abs(gap).min(axis=2).max(axis=1) < SETTINGS.contact_m  # in one of the planes of the room
        made.append(np.stack([edge[level, 0], edge[level, 1], to[level]], axis=1))
    return np.concatenate(made) if made else np.zeros((0, 3), dtype=np.int64)


def _grouped(values: NDArray[np.integer]) -> dict[int, NDArray[np.int64]]:
    """Value -> positions of it, ascending."""
    order = np.argsort(values, kind="stable")
    names, starts = np.unique(values[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, starts[1:]), strict=True))


def _annotated(solid: Solid, layout: Layout, owner: NDArray[np.int32]) -> NDArray[np.int32]:
    """Each vertex's own label, -1 on clutter and on what was hardly seen."""
    count = np.bincount(owner, minlength=len(solid.names))
    named = np.ones(len(solid.names), dtype=bool)
    for number, placed in enumerate(layout.placed):  # carriers come before what they carry
        carried_by_nameless = placed.parent is not None and not named[placed.parent]
        named[number] = placed.thing.labelled and count[number] >= SETTINGS.min_vertices and not carried_by_nameless
    return np.where(named[owner], owner, UNLABELLED).astype(np.int32)


def _bleed(
    clean: Array,
    owner: NDArray[np.int32],
    label_owner: NDArray[np.int32],
    contacts: list[tuple[int, int]],
    chance: Chance,
) -> None:
    """Let labels run over some borders, in place: onto the carrier mostly, up the carried thing now and then."""
    by_owner = _grouped(owner)
    boxes = {o: (clean[v].min(axis=0), clean[v].max(axis=0)) for o, v in by_owner.items()}
    for child, carrier in contacts:
        draw, angle, upward = chance.random(), chance.uniform(-np.pi, np.pi), chance.random() < 0.3
        if draw > SETTINGS.bleed_share or child not in by_owner or carrier not in by_owner:
            continue
        source, target = (carrier, child) if upward else (child, carrier)
        if label_owner[by_owner[child][0]] == UNLABELLED or label_owner[by_owner[carrier][0]] == UNLABELLED:
            continue
        candidates = by_owner[target]
        low, high = boxes[source]
        near = ((clean[candidates] > low - SETTINGS.bleed_m) & (clean[candidates] < high + SETTINGS.bleed_m)).all(
            axis=1
        )
        candidates = candidates[near & (label_owner[candidates] == target)]
        if not len(candidates):
            continue
        reach = SETTINGS.bleed_m
        close = np.isfinite(cKDTree(clean[by_owner[source]]).query(clean[candidates], distance_upper_bound=reach)[0])
        middle = (boxes[child][0] + boxes[child][1]) / 2
        offset = clean[candidates] - middle
        turn = np.abs((np.arctan2(offset[:, 1], offset[:, 0]) - angle + np.pi) % (2 * np.pi) - np.pi)
        moved = candidates[close & (turn < np.radians(SETTINGS.bleed_sector_deg / 2))]
        label_owner[moved] = source
        rest = by_owner[target][label_owner[by_owner[target]] == target]
        if len(rest) < SETTINGS.min_vertices or _shrinks(clean[rest], boxes[target]):
            label_owner[moved] = target


def _shrinks(points: Array, box: tuple[Array, Array]) -> bool:
    low, high = points.min(axis=0) - box[0], box[1] - points.max(axis=0)
    return bool(max(low.max(), high.max()) > SETTINGS.bleed_m)


def _segments(
    clean: Array, label_owner: NDArray[np.int32], owner: NDArray[np.int32], chance: Chance
) -> NDArray[np.int64]:
    """Several segments for each label and for unlabelled things: cells of a shifted grid; numbered by a vertex."""
    shift = chance.uniform(0, SETTINGS.segment_m, 3)
    named = np.where(label_owner == UNLABELLED, -1 - owner, label_owner)
    side = np.full(len(clean), SETTINGS.segment_m)
    for positions in _grouped(named).values():
        extent = float(np.ptp(clean[positions], axis=0).max())
        side[positions] = np.clip(extent / 2, 0.05, SETTINGS.segment_m)
    cell = np.floor((clean + shift) / side[:, None]).astype(np.int64)
    keys = np.concatenate([named[:, None], cell], axis=1)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first[inverse.reshape(-1)]
