"""The annotation of a demo scene as ScanNet++ has it: its words, groups that overlap, boxes that are turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from shapely import MultiPoint

from scannet_tools.demo.label_map import LABELS
from scannet_tools.demo.scanner import UNLABELLED, ScanMesh
from scannet_tools.demo.site import Site, object_ids, rounded

Chance = np.random.Generator


@dataclass(frozen=True)
class AnnotationSettings:
    """How the annotation differs from ScanNet's; all our own, after ScanNet++."""

    misspelt_share: float = 0.5
    """Share of the objects whose label has another spelling that get it."""
    shared_share: float = 0.6
    """Share of contacts at which the carrier lists vertices of the smaller thing on it, too."""
    most_shared: float = 0.035
    """Of all that a carrier lists, at most so much is another's: it may lose 5 % (SEMANTICS section 2)."""
    left_out_share: float = 0.5
    """Of things without a label, about so many are listed as REMOVE or SPLIT."""


SETTINGS = AnnotationSettings()

WORDS = {"couch": "sofa", "desk lamp": "table lamp", "picture": "painting"}
"""What ScanNet++ says where ScanNet says otherwise."""
MISSPELT = {
    "nightstand": "night stand",
    "refrigerator": "refridgerator",
    "bookshelf": "book shelf",
    "whiteboard": "white board",
    "backpack": "back pack",
    "suitcase": "suit case",
    "keyboard": "key board",
    "laptop": "lap top",
    "tv": "TV",
}
"""Other spellings that the annotators use."""
LEFT_OUT = ("REMOVE", "SPLIT", "remove", "Split")
"""Labels of what is to be ignored."""


class Annotation(NamedTuple):
    """``segIndices`` and ``segGroups`` as they are written, and what they call each owner that has a name."""

    segments: NDArray[np.int64]
    groups: list[dict[str, Any]]
    ids: dict[int, int]
    labels: dict[int, str]


def classes() -> list[str]:
    """The labels that demo scenes use, in ScanNet++'s words."""
    return sorted({WORDS.get(row.label, row.label) for row in LABELS})


def annotated(site: Site, mesh: ScanMesh) -> Annotation:
    """Annotate a scanned room as ScanNet++ does.

    Every other scene has a segment for each vertex, the rest has real segments. Ids start at 1. The box of a group is
    the smallest turned one around its vertices; its ``min`` and ``max`` are of the scan before it was aligned.
    """
    chance = site.chance("scannetpp", "labels")
    ids = object_ids(mesh, site.chance("scannetpp", "ids"), first=1)
    of_vertices = (site.index + site.seed) % 2 == 0
    segments = np.arange(len(mesh.vertices), dtype=np.int64) if of_vertices else mesh.segments.astype(np.int64)
    listed = {owner: np.flatnonzero(mesh.label_owner == owner) for owner in ids}
    labels = {owner: _label(site.solid.names[owner], chance) for owner in sorted(ids)}
    _share(site, segments, listed, chance)
    rows = [(ids[owner], labels[owner], listed[owner]) for owner in ids]
    rows += _left_out(mesh, segments, max(ids.values()), chance)
    raw = site.scan_from_world @ mesh.vertices
    groups = []
    for position, (number, label, vertices) in enumerate(sorted(rows, key=lambda row: row[0])):
        points, before = mesh.vertices[vertices], raw[vertices]
        groups.append(
            {
                "id": position,
                "objectId": number,
                "segments": np.unique(segments[vertices]).tolist(),
                "label": label,
                "obb": {
                    **turned_box(points),
                    "min": rounded(before.min(axis=0), 6),
                    "max": rounded(before.max(axis=0), 6),
                },
            }
        )
    return Annotation(segments, groups, ids, labels)


def turned_box(points: NDArray[np.float64]) -> dict[str, list[float]]:
    """Centre, lengths and axes (three after one another, right-handed, the last one up) of the smallest upright box."""
    hull = MultiPoint(points[:, :2]).convex_hull
    corners = np.array(hull.minimum_rotated_rectangle.exterior.coords)[:4, :2]
    along, across = corners[1] - corners[0], corners[3] - corners[0]
    lengths = np.linalg.norm(along), np.linalg.norm(across)
    x = along / lengths[0]
    low, high = points[:, 2].min(), points[:, 2].max()
    middle = corners.mean(axis=0)
    axes = np.array([[x[0], x[1], 0.0], [-x[1], x[0], 0.0], [0.0, 0.0, 1.0]])
    return {
        "centroid": rounded(np.array([middle[0], middle[1], (low + high) / 2]), 6),
        "axesLengths": rounded(np.array([lengths[0], lengths[1], high - low]), 6),
        "normalizedAxes": rounded(axes.ravel(), 8),
    }


def _label(name: str, chance: Chance) -> str:
    wrong = chance.random() < SETTINGS.misspelt_share
    return MISSPELT[name] if wrong and name in MISSPELT else WORDS.get(name, name)


def _share(site: Site, segments: NDArray[np.int64], listed: dict[int, NDArray[np.int64]], chance: Chance) -> None:
    """Let carriers list some segments of what stands on them, in place; the smaller object owns those still."""
    room = {owner: SETTINGS.most_shared * len(vertices) for owner, vertices in listed.items()}
    own = dict(listed)
    for child, placed in enumerate(site.layout.placed):
        draw = chance.random()
        carrier = placed.parent
        if carrier is None or carrier not in own or child not in own or draw > SETTINGS.shared_share:
            continue
        if len(own[child]) * 2 > len(own[carrier]):
            continue
        lowest = own[child][np.argsort(segments[own[child]], kind="stable")]
        numbers, starts, counts = np.unique(segments[lowest], return_index=True, return_counts=True)
        for at in chance.permutation(len(numbers)).tolist():
            if counts[at] <= room[carrier]:
                room[carrier] -= int(counts[at])
                more = lowest[starts[at] : starts[at] + counts[at]]
                listed[carrier] = np.concatenate([listed[carrier], more])


def _left_out(
    mesh: ScanMesh, segments: NDArray[np.int64], last: int, chance: Chance
) -> list[tuple[int, str, NDArray[np.int64]]]:
    """Groups to be ignored over some of what has no label: of the first of them, half of its vertices at most."""
    nameless = np.unique(mesh.owner[mesh.label_owner == UNLABELLED])
    count = int(np.ceil(len(nameless) * SETTINGS.left_out_share))
    rows = []
    for number, owner in enumerate(chance.permutation(nameless)[:count].tolist()):
        vertices = np.flatnonzero((mesh.owner == owner) & (mesh.label_owner == UNLABELLED))
        if number == 0:
            names, sizes = np.unique(segments[vertices], return_counts=True)
            some = names[np.cumsum(sizes) * 2 <= len(vertices)]
            vertices = vertices[np.isin(segments[vertices], some)]
        if len(np.unique(mesh.vertices[vertices, :2], axis=0)) >= 3:
            rows.append((last + 1 + number, LEFT_OUT[int(chance.integers(len(LEFT_OUT)))], vertices))
    return rows
