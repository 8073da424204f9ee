"""What selection is given of a candidate, through the file of its scene."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import synthetic_suite as synthetic

from spacecast.dataset.settings import BuildSettings, Folder
from spacecast.dataset.tasks import SceneTask, features_of, find_candidates
from spacecast.dataset.types import ViewUse

ROLES = ("main_a", "bridge", "main_b")


class Chains(synthetic.Occlusions):
    """Each question on views 0, 1 and 2, with an object 9 that goes along unnamed."""

    def enumerate(self, context: Any) -> Any:
        for draft in super().enumerate(context):
            if draft.case.endswith("-0"):
                unnamed = {**draft.facts["objects"][0], "id": 9, "roles": ["moved"]}
                facts = {**draft.facts, "objects": [*draft.facts["objects"], unnamed]}
                views = tuple(ViewUse(str(i), role) for i, role in enumerate(ROLES))
                yield replace(draft, views=views, facts=facts)


def rescan(folder: Folder) -> Any:
    return replace(synthetic.read(folder), room_id=folder.scene_id.partition("_")[0])


def test_pictures_objects_and_room_are_in_the_file(tmp_path: Path) -> None:
    folder = Folder("synthetic", "s7_01", synthetic.write_scene(tmp_path / "raw", "s7_01", objects=3))
    suite = replace(synthetic.SUITE, types=(Chains(),))
    sources = replace(synthetic.SOURCES, read=rescan, suite=lambda name: suite)
    file = tmp_path / "candidates.parquet"
    assert find_candidates(SceneTask(folder, file, "key", BuildSettings(), sources)) is None
    features = features_of(file, "occlusion")
    assert sorted(f.objects for f in features) == [(1,), (2,), (3,)]
    for feature in features:
        assert feature.images == 3
        assert feature.views == ("0", "2")  # a bridge is no main picture
        assert feature.room == "synthetic-s7"
