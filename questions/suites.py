"""The suite: which types are asked, how many of each in a whole release, and who words them. SEMANTICS section 6."""

from __future__ import annotations

from questions.attachments import AttachmentChain
from questions.directions import CameraDirection, ObjectDirection, WorldDirection
from questions.distances import Distance
from questions.kinds import PUBLISHED
from questions.layouts import RotatedCameraDirection, RotatedObjectDirection, RotatedWorldDirection
from questions.move_directions import MoveCameraDirection, MoveObjectDirection, MoveWorldDirection
from questions.move_distances import MoveDistance
from questions.move_occlusions import MoveOcclusion
from questions.occlusions import Occlusion
from questions.removals import RemoveOcclusion
from questions.rotations import RotatedObject
from questions.wording import VERSION, word
from spacecast.dataset.types import DatasetQuota, MaxShare, MaxUnchanged, QuestionType, Quota, Suite

TYPES: tuple[QuestionType, ...] = (
    CameraDirection(),
    ObjectDirection(),
    WorldDirection(),
    Distance(),
    Occlusion(),
    AttachmentChain(),
    MoveCameraDirection(),
    MoveObjectDirection(),
    RotatedObject(),
    MoveWorldDirection(),
    MoveDistance(),
    MoveOcclusion(),
    RemoveOcclusion(),
    RotatedCameraDirection(),
    RotatedObjectDirection(),
    RotatedWorldDirection(),
)
"""The types that are built, in the published order."""

MAX_SHARES = (MaxShare("occlusion", "not visible", 1 / 3),)

MAX_UNCHANGED = (
    MaxUnchanged("object_move_agent", 1 / 4),
    MaxUnchanged("object_move_object_centric", 1 / 4),
    MaxUnchanged("object_rotate_object_centric", 0.0),
    MaxUnchanged("object_move_allocentric", 1 / 4),
    MaxUnchanged("object_move_distance", 0.0),
    MaxUnchanged("object_move_occlusion", 1 / 4),
    MaxUnchanged("coordinate_rotation_agent", 0.0),
    MaxUnchanged("coordinate_rotation_object_centric", 0.0),
    MaxUnchanged("coordinate_rotation_allocentric", 0.0),
)
"""Remove Occlusion has none: its thirds of answers say how often nothing changes."""

SPACECAST = Suite(
    name="spacecast",
    version=1,
    types=TYPES,
    quotas=tuple(Quota(kind.code, kind.questions) for kind in PUBLISHED if kind.code in {t.code for t in TYPES}),
    word=word,
    wording_version=VERSION,
    max_shares=MAX_SHARES,
    max_unchanged=MAX_UNCHANGED,
    per_dataset=(DatasetQuota("scannet", 718, 134), DatasetQuota("scannetpp", 3144, 48)),
)
