"""The suite: which types are asked, how many of each in a whole release, and who words them. SEMANTICS section 6."""

from __future__ import annotations

from questions.attachments import AttachmentChain
from questions.directions import CameraDirection, ObjectDirection, WorldDirection
from questions.distances import Distance
from questions.kinds import PUBLISHED
from questions.occlusions import Occlusion
from questions.wording import word
from spacecast.dataset.types import QuestionType, Quota, Suite

TYPES: tuple[QuestionType, ...] = (
    CameraDirection(),
    ObjectDirection(),
    WorldDirection(),
    Distance(),
    Occlusion(),
    AttachmentChain(),
)
"""The types that are built, in the published order."""

SPACECAST = Suite(
    name="spacecast",
    version=1,
    types=TYPES,
    quotas=tuple(Quota(kind.code, kind.questions) for kind in PUBLISHED if kind.code in {t.code for t in TYPES}),
    word=word,
)
