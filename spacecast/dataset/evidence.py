"""What may be shown beside a question's pictures: positions and sizes as text, and the scene's map from above.

Made from the state before any change, and from nothing that holds the answer.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from spacecast.dataset.rows import Row
from spacecast.files import write_whole


def metadata_text(facts: dict[str, Any]) -> str:
    """Objects and cameras of a question, a line each; metres, z up, +y north."""
    lines = ["# metres; x east, y north, z up; boxes are aligned with the axes", "objects"]
    for entry in sorted(facts["objects"], key=lambda entry: int(entry["id"])):
        low, high = entry["aabb"]["min"], entry["aabb"]["max"]
        lines.append(f"  {entry['label']} (id {entry['id']}): from {_point(low)} to {_point(high)}")
    lines.append("cameras")
    for view in facts["views"]:
        pose = view["world_from_camera"]
        position, forward = pose[3:12:4], pose[2:11:4]
        lines.append(f"  {view['name']} ({view['role']}): at {_point(position)}, looks along {_point(forward)}")
    return "\n".join(lines) + "\n"


def _point(values: list[float]) -> str:
    return "(" + ", ".join(f"{value + 0.0:.2f}" for value in values) + ")"


def write_evidence(row: Row, scene_map: bytes, folder: Path) -> dict[str, str]:
    """Write a question's text and map.

    Args:
        row: the question.
        scene_map: PNG of its scene from above.
        folder: of the dataset.

    Returns:
        Names from the dataset's folder -> SHA-256.
    """
    hashes = {}
    for suffix, data in ((".txt", metadata_text(row.facts).encode()), (".png", scene_map)):
        name = f"evidence/{row.question_uid}{suffix}"
        with write_whole(folder / name) as aside:
            aside.write_bytes(data)
        hashes[name] = hashlib.sha256(data).hexdigest()
    return hashes
