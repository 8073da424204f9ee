"""What every text about a move says, and what none says."""

from __future__ import annotations

import re

import pytest

from questions.moves import SETTINGS
from questions.wording import suits, table
from spacecast.frames import COMPASS
from spacecast.scene.interventions import MOVE_WORDS

CODES = (
    "object_move_agent",
    "object_move_object_centric",
    "object_move_allocentric",
    "object_move_distance",
    "object_move_occlusion",
)
SAYS = {  # horizontally; not turned; nothing else is touched
    "en": (
        r"level|horizontally",
        r"without (being turned|turning)|not turned?\b|do(es)? not turn|never turned|keeping its own orientation"
        r"|Nothing is turned",
        r"nothing else (is|was) touched|anything else|touch(es|ing)? anything else",
    ),
    "zh": (
        r"水平|平着移",
        r"不改变它自身的朝向|没有让它转向|自身不旋转|不转身|不转动|不再转动",
        r"没有人去碰|没有碰|没有人碰|没有人动",
    ),
}
CAMERA_STAYS = {
    "en": r"camera (does not move|stays|has stayed)|moving the camera|(keeps standing|does not move|has not moved)",
    "zh": r"相机(不动|没有动|也没有动|留在原处|也留在原处|保持原样)|没有动相机|也没有动相机|拍照人(站在原处|没有移动)",
}
GIVES_AWAY = {
    "en": r"rests? on|on top|carr(y|ies|ied)|stands? on it|along with it\b|goes along|go along|moves too",
    "zh": r"上面的|放在.*上面|一起移动|跟着|承载",
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("code", CODES)
def test_every_text_states_the_move_and_what_stays_and_none_what_goes_along(code: str, language: str) -> None:
    for template in table(language)[code]["templates"]:
        text = template["text"]
        for slot in ("{say distance}", "{say direction}", "{the reference}"):
            assert slot in text, template["id"]
        assert re.search(r"\{(the|The) mover\}", text), template["id"]
        for pattern in (*SAYS[language], CAMERA_STAYS[language]):
            assert re.search(pattern, text), (template["id"], pattern)
        assert not re.search(GIVES_AWAY[language], text), template["id"]
        assert ("{say heading}" in text) is (code == "object_move_allocentric"), template["id"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_move_has_words(language: str) -> None:
    values = table(language)["values"]
    said = [values[f"{frame} {word}"] for frame in ("camera", "object") for word in MOVE_WORDS]
    assert all(said)
    assert len({values[f"camera {word}"] for word in MOVE_WORDS}) == 8
    assert len({values[f"object {word}"] for word in MOVE_WORDS}) == 8
    assert all(values[word] for word in COMPASS)
    assert all(values[f"{metres:.1f} m"] for metres in SETTINGS.distances_m)


def test_forward_in_the_camera_frame_is_said_as_away_from_the_camera() -> None:
    values = table("en")["values"]
    for word in MOVE_WORDS:
        text = values[f"camera {word}"]
        assert ("away from the camera" in text) is word.startswith("forward")
        assert ("towards the camera" in text) is word.startswith("backward")
        assert ("right" in text, "left" in text) == ("right" in word, "left" in word)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nobody_is_told_that_a_thing_and_itself_face_the_camera(language: str) -> None:
    class Words:
        def __init__(self, kind: str) -> None:
            self.words = {"query_is": kind}

    templates = table(language)["object_move_object_centric"]["templates"]
    for kind in ("mover", "carried"):
        suited = [t for t in templates if suits(t, Words(kind))]
        assert len(suited) >= 3
        assert all(("{the query}" in t["text"]) is (kind == "carried") for t in suited)
