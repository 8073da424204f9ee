"""Words for drafts: every template of both languages, and what is refused."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import numpy as np
import pytest
from box_scans import Box, box_scan, looking, on_floor
from ring import CHINESE as RING_CHINESE
from ring import LABELS as RING_LABELS
from ring import ring

from questions.kinds import KIND_BY_CODE, PUBLISHED
from questions.suites import SPACECAST, TYPES
from questions.wording import TAKEN, groups_of, is_plural, preceded, suits, table, word, worded
from spacecast.dataset.chance import generator
from spacecast.dataset.context import SceneContext
from spacecast.dataset.types import Draft, Refusal, Suite
from spacecast.errors import SpacecastError

LANGUAGES = ("en", "zh")
CODES = [kind.code for kind in TYPES]
CHINESE = {"table": "桌子", "tray": "托盘", "mug": "杯子", "bin": "垃圾桶", "stool": "凳子"}
CHINESE |= dict(zip(RING_LABELS, RING_CHINESE, strict=True))


def room(**more: object) -> SceneContext:
    boxes = [
        Box(1, "table", (0.0, 0.5, 0.35), (1.6, 0.9, 0.7)),
        Box(2, "tray", (-0.3, 0.5, 0.74), (0.6, 0.5, 0.08)),
        Box(3, "mug", (-0.3, 0.5, 0.88), (0.2, 0.2, 0.2)),
        on_floor(5, "bin", 1.3, 0.5),
        on_floor(6, "stool", -1.3, 0.5),
    ]
    named = [Box(b.id, b.label, b.center, b.size, more={"label_zh": CHINESE[b.label]}) for b in boxes]
    if more.get("nameless"):
        named[-1] = boxes[-1]
    return SceneContext(box_scan(named, {"0": looking((0.0, -3.2, 2.2), (0.0, 0.3, 0.6))}), pictures="render")


@pytest.fixture(scope="module")
def drafts() -> dict[str, list[Draft]]:
    """On single pictures."""
    context = room()
    return {kind.code: [d for d in kind.enumerate(context) if isinstance(d, Draft)] for kind in TYPES}


@pytest.fixture(scope="module")
def chained() -> dict[str, list[Draft]]:
    """On several pictures: some of each number, and of each kind of query."""
    context = ring((15, *range(8)), range(4))
    found: dict[str, list[Draft]] = {}
    for kind in TYPES:
        if KIND_BY_CODE[kind.code].max_images == 1:
            continue
        several = [d for d in kind.enumerate(context) if isinstance(d, Draft) and len(d.views) > 1]
        found[kind.code] = [d for n in range(2, 9) for d in [d for d in several if len(d.views) == n][:3]]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", CODES)
def test_every_template_reads_with_every_draft(code: str, language: str, drafts: dict[str, list[Draft]]) -> None:
    templates = table(language)[code]["templates"]
    assert len(templates) >= 3
    assert drafts[code]
    for template in templates:
        suited = [draft for draft in drafts[code] if suits(template, draft)]
        assert suited or template.get("pictures") == "several"
        for draft in suited:
            question, options = worded(template["text"], code, draft, language)
            assert not re.search(r"[{}]|\bNone\b|  |\n", question), question
            assert question[0] == question[0].upper()
            assert question.strip() == question
            assert len(options) == KIND_BY_CODE[code].option_count
            assert len(set(options)) == len(options)
            assert all(option.strip() == option and option for option in options)
            for role, object_id in draft.words.items():
                if isinstance(object_id, int):
                    label = next(o["label"] for o in draft.facts["objects"] if o["id"] == object_id)
                    assert (label if language == "en" else CHINESE[label]) in question, (role, question)


COUNTS = {
    "en": ("two", "three", "four", "five", "six", "seven", "eight"),
    "zh": ("两张", "三张", "四张", "五张", "六张", "七张", "八张"),
}


def said_where(text: str, language: str) -> tuple[str, str, str]:
    """What the text before a question says is in the first picture, in which other picture, and what is there."""
    patterns = {
        "en": (
            r"through it\. (?:The )(.+?) (?:is|are) in picture 1, (.+?) in picture (\d)\.",
            r"Look for (.+?) in picture 1 and for (.+?) in picture (\d)\.",
            r"order\. (?:The )(.+?) (?:is|are) to be found in picture 1; to see (.+?), look in picture (\d)\.",
        ),
        "zh": (
            r"。([^。]+?)在第1张照片里，([^。]+?)在第(\d)张照片里。",
            r"在第1张照片里找([^。]+?)，在第(\d)张照片里找([^。]+?)。",
            r"第1张照片里可以看到([^。]+?)；要看([^。]+?)，请看第(\d)张照片。",
        ),
    }[language]
    for pattern in patterns:
        match = re.search(pattern, text)
        if match:
            first, *others = match.groups()
            last = next(group for group in others if group.isdigit())
            return first, last, next(group for group in others if not group.isdigit())
    raise AssertionError(text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", [code for code in CODES if KIND_BY_CODE[code].max_images > 1])
def test_the_text_says_which_object_is_in_which_picture(
    code: str, language: str, chained: dict[str, list[Draft]]
) -> None:
    templates = table(language)["chain"]["templates"]
    assert len(templates) >= 3
    assert chained[code]
    for draft in chained[code]:
        for chain in templates:
            for template in table(language)[code]["templates"]:
                if not suits(template, draft):
                    continue
                question, _ = worded(preceded(template["text"], chain, draft, language), code, draft, language)
                assert not re.search(
                    r"[{}]|\bNone\b|  |\n|\bthis picture\b|(?<!border of )the picture\b(?!'s)|画面正前方", question
                )
                assert "这张照片" not in question
                first, last, there = said_where(question, language)
                labels = {o["id"]: o["label"] for o in draft.facts["objects"]}
                named = {i: CHINESE.get(label, label) if language == "zh" else label for i, label in labels.items()}
                groups = groups_of(code, draft)
                assert int(last) == len(draft.views)
                assert names_in(first, language) == [named[i] for i in groups["group_a"]]
                assert names_in(there, language) == [named[i] for i in groups["group_b"]]
                assert COUNTS[language][len(draft.views) - 2] in question
                assert (chain["camera"] in question) is (draft.facts["binding_view"] is not None)
                if code == "object_move_occlusion":
                    after = question.split(chain["camera"])[1]
                    assert re.search(rf"picture {last}|第{last}张照片", after)
                    assert re.search(r"picture 1|第1张照片", after)


def names_in(text: str, language: str) -> list[str]:
    """The names in a row: the chair, the lamp and the desk."""
    if language == "zh":
        return re.split("、|和", text)
    return [name.removeprefix("the ") for name in re.split(", | and ", text)]


def test_no_text_about_several_pictures_depends_on_the_answer(chained: dict[str, list[Draft]]) -> None:
    for code, some in chained.items():
        for draft in some:
            other = next(c.value for c in draft.choices if not c.is_right)
            relation = {**draft.facts["relation"], "before": {"value": other}, "after": {"value": other}}
            changed = Draft(**{**draft.__dict__, "facts": {**draft.facts, "relation": relation}, "balance": other})
            assert word(code, draft, "en", generator("w"))[:2] == word(code, changed, "en", generator("w"))[:2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_ids_of_templates_are_unique_and_texts_differ(language: str) -> None:
    templates = [t for code in CODES for t in table(language)[code]["templates"]]
    assert len({t["id"] for t in templates}) == len(templates)
    assert len({t["text"] for t in templates}) == len(templates)
    assert {t["id"] for t in templates}.isdisjoint(
        t["id"] for other in LANGUAGES if other != language for c in CODES for t in table(other)[c]["templates"]
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tables_have_the_same_types_values_and_options(language: str) -> None:
    raw = tomllib.loads(files("questions.wording").joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    assert {"values", "chain", *CODES} <= set(raw) <= {"values", "chain", *KIND_BY_CODE}
    assert set(raw["values"]) == set(table("en")["values"])
    for code in CODES:
        assert set(raw[code].get("options", {})) == set(table("en")[code].get("options", {}))
        texts = list(raw[code].get("options", {}).values())
        assert len(set(texts)) == len(texts)


def test_each_direction_template_says_whose_directions_they_are() -> None:
    for template in table("en")["direction_agent"]["templates"]:
        assert "camera" in template["text"] or "person who took the picture" in template["text"]
    for template in table("en")["direction_object_centric"]["templates"]:
        assert "{the anchor}" in template["text"]
        assert "{the facing}" in template["text"]
        assert re.search(r"your own|of your own", template["text"])
    for language in LANGUAGES:
        for template in table(language)["direction_allocentric"]["templates"]:
            assert "{say heading}" in template["text"]


def test_each_occlusion_template_says_that_the_border_does_not_occlude() -> None:
    for template in table("en")["occlusion"]["templates"]:
        assert re.search(r"border|edge", template["text"])
    for template in table("zh")["occlusion"]["templates"]:
        assert "边缘" in template["text"]


LAYOUTS = ["coordinate_rotation_agent", "coordinate_rotation_object_centric", "coordinate_rotation_allocentric"]


@pytest.mark.parametrize("code", LAYOUTS)
def test_each_layout_template_says_what_turns_and_what_stays(code: str) -> None:
    for template in table("en")[code]["templates"]:
        assert re.search(r"by \{say angle\}", template["text"])
        assert re.search(r"(seen|viewed) from above|look at the map from above", template["text"])
        assert re.search(r"hangs on (the|its) walls", template["text"])
        assert re.search(r"walls.* (stay|remain)|building.* stays?|except the building", template["text"])
        assert re.search(r"(middle of the room|room's centre|centre of the room)", template["text"])
    for template in table("zh")[code]["templates"]:
        assert "{say angle}" in template["text"]
        assert re.search(r"从上往下看|从上方俯视|看着图面", template["text"])
        assert "包括挂在墙上的" in template["text"]
        assert re.search(r"墙壁.*(不|没有|留|保持)|建筑.*不动|建筑以外|除了建筑", template["text"])
    kept = {LAYOUTS[0]: "camera|picture", LAYOUTS[1]: "faced? at first|noted", LAYOUTS[2]: "compass|north"}[code]
    assert all(re.search(kept, template["text"]) for template in table("en")[code]["templates"])


def test_each_orbit_template_says_how_and_in_whose_frame() -> None:
    for template in table("en")["object_rotate_object_centric"]["templates"]:
        assert re.search(r"(seen|viewed) from above", template["text"], re.IGNORECASE)
        assert re.search(r"not turned|same way as before|without being turned", template["text"])
        assert re.search(r"your own", template["text"])
        assert {"{the mover}", "{the around}", "{the query}", "{the reference}", "{say orbit}"} <= set(
            re.findall(r"\{\w+ \w+\}", template["text"])
        )
    for template in table("zh")["object_rotate_object_centric"]["templates"]:
        assert re.search(r"从上往下看|从上方俯视", template["text"])
        assert re.search(r"朝向不变|不让它转向|不旋转", template["text"])


def test_of_level_two_only_a_removal_says_that_what_is_carried_goes_along() -> None:
    english, chinese = r"on or in|\bcarrying\b|along with|rests? on", r"上面|里面|承载"
    for code in CODES:
        if KIND_BY_CODE[code].level != "L2":
            continue
        for language, said in (("en", english), ("zh", chinese)):
            for template in table(language)[code]["templates"]:
                assert bool(re.search(said, template["text"])) is (code == "object_remove"), template["id"]


def test_options_of_distance_state_their_bounds() -> None:
    for language in LANGUAGES:
        texts = table(language)["distance"]["options"]
        for value, bounds in {
            "very close": ["1.0"], "close": ["1.0", "2.0"], "moderate": ["2.0", "3.3"], "far": ["3.3"],
        }.items():  # fmt: skip
            assert re.findall(r"\d\.\d", texts[value]) == bounds


def test_the_paraphrase_is_drawn_from_the_generator(drafts: dict[str, list[Draft]]) -> None:
    draft = drafts["distance"][0]
    drawn = {word("distance", draft, "en", generator("w", i))[0] for i in range(60)}
    assert drawn == {t["id"] for t in table("en")["distance"]["templates"]}
    assert word("distance", draft, "en", generator("w", 3)) == word("distance", draft, "en", generator("w", 3))


def test_no_chinese_question_about_what_has_no_chinese_name() -> None:
    context = room(nameless=True)
    seen = {True: 0, False: 0}
    for kind in TYPES:
        for draft in kind.enumerate(context):
            if not isinstance(draft, Draft):
                continue
            named = {o["id"] for o in draft.facts["objects"] if set(o["roles"]) - {"carrier", "carried"}}
            found = word(kind.code, draft, "zh", np.random.default_rng(0))
            seen[6 in named] += 1
            if 6 in named:
                assert found == Refusal("wording", "no_chinese_name", "stool 6")
            else:
                assert not isinstance(found, Refusal)
            assert not isinstance(word(kind.code, draft, "en", np.random.default_rng(0)), Refusal)
    assert min(seen.values()) > 0


@pytest.mark.parametrize("label", sorted(TAKEN["en"]))
def test_no_question_about_what_is_called_as_pictures_are(drafts: dict[str, list[Draft]], label: str) -> None:
    draft = drafts["direction_agent"][0]
    objects = [{**o, "label": label} if "target" in o["roles"] else o for o in draft.facts["objects"]]
    taken = Draft(**{**draft.__dict__, "facts": {**draft.facts, "objects": objects}})
    found = word("direction_agent", taken, "en", np.random.default_rng(0))
    assert isinstance(found, Refusal)
    assert (found.stage, found.reason) == ("wording", "no_english_name")
    assert not isinstance(word("direction_agent", taken, "zh", np.random.default_rng(0)), Refusal)


@pytest.mark.parametrize(
    ("label", "plural"),
    [("blinds", True), ("scissors", True), ("glass", False), ("chair", False), ("cactus", False), ("tennis", False),
     ("stack of papers", True), ("canvas", False), ("christmas tree", False), ("curtains", True)],
)  # fmt: skip
def test_which_labels_take_a_plural_verb(label: str, plural: bool) -> None:
    assert is_plural(label) is plural


def test_plurals_agree_with_their_verb(drafts: dict[str, list[Draft]]) -> None:
    draft = drafts["direction_agent"][0]
    objects = [{**o, "label": "blinds"} if "target" in o["roles"] else o for o in draft.facts["objects"]]
    text = "where {is target} {the target} from {the reference}?"
    plural = Draft(**{**draft.__dict__, "facts": {**draft.facts, "objects": objects}})
    assert worded(text, "direction_agent", plural, "en")[0].startswith("where are the blinds from the ")
    assert worded(text, "direction_agent", draft, "en")[0].startswith("where is the ")


@pytest.mark.parametrize("text", ["{the nobody} is here", "{a target} is here", "{the target is here"])
def test_a_template_that_does_not_fit_is_an_error(text: str, drafts: dict[str, list[Draft]]) -> None:
    with pytest.raises(SpacecastError, match="wording"):
        worded(text, "direction_agent", drafts["direction_agent"][0], "en")


def test_the_suite_has_the_published_types_and_counts() -> None:
    assert isinstance(SPACECAST, Suite)
    assert sum(kind.questions for kind in PUBLISHED) == 3862
    assert len({(kind.level, kind.name) for kind in PUBLISHED}) == len({kind.code for kind in PUBLISHED}) == 16
    rows = [
        ("L1", "Camera Direction", "direction_agent", "direction", 4, False),
        ("L1", "Object Direction", "direction_object_centric", "direction", 4, False),
        ("L1", "World Direction", "direction_allocentric", "direction", 4, False),
        ("L1", "Distance", "distance", "distance", 4, False),
        ("L1", "Occlusion", "occlusion", "occlusion", 3, False),
        ("L1", "Attachment", "attachment_chain", "attachment", 3, True),
        ("L2", "Move Camera Direction", "object_move_agent", "direction", 4, False),
        ("L2", "Move Object Direction", "object_move_object_centric", "direction", 4, False),
        ("L2", "Rotate Object Direction", "object_rotate_object_centric", "direction", 4, False),
        ("L2", "Move World Direction", "object_move_allocentric", "direction", 4, False),
        ("L2", "Move Distance", "object_move_distance", "distance", 4, False),
        ("L2", "Move Occlusion", "object_move_occlusion", "occlusion", 3, False),
        ("L2", "Remove Occlusion", "object_remove", "occlusion", 3, False),
        ("L3", "Rotate Camera Direction", "coordinate_rotation_agent", "direction", 4, False),
        ("L3", "Rotate Object Direction", "coordinate_rotation_object_centric", "direction", 4, False),
        ("L3", "Rotate World Direction", "coordinate_rotation_allocentric", "direction", 4, False),
    ]
    built = [(t.level, t.name, t.code, t.task, t.option_count, t.multi_select) for t in TYPES]
    assert built == [row for row in rows if row[2] in CODES]
    assert {q.type_code: q.questions for q in SPACECAST.quotas} == {
        k.code: k.questions for k in PUBLISHED if k.code in CODES
    }
    assert {t.code for t in TYPES if t.needs_north} == {c for c in CODES if c.endswith("_allocentric")}
    level_one = [1 / 7 if t.multi_select else 1 / t.option_count for t in TYPES if t.level == "L1"]
    assert sum(level_one) / 6 == pytest.approx(0.246, abs=5e-4)
