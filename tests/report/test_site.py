"""Pages and contact sheet: what they hold, that they need nothing from elsewhere, and where boxes are drawn."""

from __future__ import annotations

import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from handmade import box, camera_looking, direction_question, facts_with, questions, row_with, view, write
from PIL import Image, ImageDraw, ImageFont

from spacecast.dataset.reader import Benchmark
from spacecast.errors import InputError
from spacecast.evaluation.baselines import evaluate_baseline
from spacecast.report import write_contact_sheet, write_report
from spacecast.report.contact import sample, wrapped
from spacecast.report.overlay import boxes_in, boxes_of, marks_of


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("report") / "set", questions(scenes=3, per_type=3))


@pytest.fixture(scope="module")
def site(dataset, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    evaluate_baseline(dataset, folder / "scores" / "oracle", model="oracle")
    evaluate_baseline(dataset, folder / "scores" / "random", model="random")
    write_report(dataset, folder / "site", [folder / "scores" / "oracle", folder / "scores" / "random"])
    return folder / "site"


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        named = dict(attrs)
        self.found += [named[key] for key in ("src", "href") if named.get(key)]
        if tag == "article":
            self.ids.append(named["id"])


def test_every_link_is_a_file_of_the_site_and_none_leads_elsewhere(site) -> None:
    pages = sorted(site.glob("*.html"))
    assert len(pages) == 7
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
        for link in Links(text).found:
            assert (site / link).is_file(), f"{page.name}: {link}"


def test_every_question_is_on_the_page_of_its_type(site, dataset) -> None:
    shown = [uid for page in site.glob("l1-*.html") for uid in Links(page.read_text(encoding="utf-8")).ids]
    assert sorted(shown) == sorted(row.question_uid for row in Benchmark.open(dataset).rows)


def test_the_right_options_are_marked_and_no_others(site, dataset) -> None:
    right = {row.question_uid: row.answer for row in Benchmark.open(dataset).rows}
    for page in site.glob("l1-*.html"):
        for card in re.findall(r'<article class="card" id="([^"]+)"(.*?)</article>', page.read_text(), re.DOTALL):
            assert tuple(re.findall(r'<li class="right"><b>(\w)</b>', card[1])) == right[card[0]]


def test_scores_are_in_the_table(site) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert ">oracle</th>" in text
    assert "100.0" in text


def test_what_a_question_says_is_no_markup(tmp_path) -> None:
    row = direction_question("q", "scene0000_00", "left", np.random.default_rng(0))
    facts = row.facts
    row = row_with("direction_agent", "q", "scene0000_00", '<script>alert("x")</script> where?', facts)
    write_report(write(tmp_path / "set", [row]), tmp_path / "site")
    text = (tmp_path / "site" / "l1-camera-direction.html").read_text()
    assert '<script>alert("x")' not in text
    assert "&lt;script&gt;" in text


def test_the_same_bytes_twice(dataset, tmp_path) -> None:
    for name in ("one", "two"):
        write_report(dataset, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) > 8
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_scores_that_are_not_there_are_one_line(dataset, tmp_path) -> None:
    with pytest.raises(InputError, match="no scores there"):
        write_report(dataset, tmp_path / "site", [tmp_path / "nothing"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("report.json", '"overall": {', '"overall": null, "x": {'), "Expected `object`, got `null`"),
        (("report.json", '"accuracy": 1.0', '"accuracy": "1.0"'), "Expected `float`, got `str`"),
        (("report.json", '"count": 54', '"count": 53'), "scores of other questions than those of"),
        (("per_question.jsonl", '"correct": true', '"right": true'), "missing required field `correct`"),
        (("per_question.jsonl", '"prediction": ["A"]', '"prediction": 7'), "Expected `array`, got `int`"),
        (("per_question.jsonl", '"question_uid": "', '"question_uid": "other-'), "scores of other questions than"),
    ],
)
def test_scores_that_are_damaged_or_of_another_dataset_are_one_line(
    dataset, tmp_path, change: tuple[str, str, str], said: str
) -> None:
    name, old, new = change
    evaluate_baseline(dataset, tmp_path / "oracle", model="oracle")
    file = tmp_path / "oracle" / name
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        write_report(dataset, tmp_path / "site", [tmp_path / "oracle"])
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "site").exists()


def test_a_file_is_no_place_for_pages(dataset, tmp_path) -> None:
    (tmp_path / "site").write_text("mine")
    with pytest.raises(InputError, match="site: is a file; give a folder to write"):
        write_report(dataset, tmp_path / "site")
    assert (tmp_path / "site").read_text() == "mine"


# -- contact sheet ----------------------------------------------------------------------------------------------------


def test_a_contact_sheet_spreads_over_types_and_scenes(dataset, tmp_path) -> None:
    rows = Benchmark.open(dataset).rows
    taken = sample(rows, 12, seed=0)
    assert len(taken) == len({row.question_uid for row in taken}) == 12
    assert [sum(r.category == c for r in taken) for c in sorted({r.category for r in rows})] == [2] * 6
    assert {sum(r.scene_id == s for r in taken) for s in {r.scene_id for r in rows}} == {4}
    assert sample(rows, 12, 0) == taken
    assert sample(rows, 12, 1) != taken
    assert len(sample(rows, 1000, 0)) == len(rows)
    write_contact_sheet(dataset, tmp_path / "a.png")
    write_contact_sheet(dataset, tmp_path / "b.png", count=3)
    with Image.open(tmp_path / "a.png") as a, Image.open(tmp_path / "b.png") as b:
        assert a.width > b.width
        assert a.height > 2 * b.height


def test_chinese_text_is_drawn_or_said_to_be_missing(tmp_path) -> None:
    row = direction_question("q", "scene0000_00", "left", np.random.default_rng(0))
    row = row_with("direction_agent", "q", "scene0000_00", "椅子在床的哪个方向？", row.facts)
    write_contact_sheet(write(tmp_path / "set", [row]), tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 1000


@pytest.mark.parametrize(
    "text", ["Where is the chair from the bed, on the floor plan?", "w" * 200, "", "a " * 90, "椅子" * 60]
)
def test_lines_fit_and_lose_nothing(text: str) -> None:
    draw = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    font = ImageFont.load_default(size=17)
    lines = wrapped(text, font, 200, draw)
    assert all(draw.textlength(line, font=font) <= 200 for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


# -- boxes over pictures ----------------------------------------------------------------------------------------------


def test_a_box_is_drawn_where_it_is() -> None:
    """A cube of 0.4 whose near face is 1.8 m ahead of a camera of focal length 50 and principal point (31.5, 23.5)."""
    (drawn,) = boxes_in(view("0", camera_looking(0.0, 1.0)), [box(1, "lamp", (0.0, 2.0, 1.5), ["target"])])
    assert drawn.place == (31.5, 23.5)
    xs = sorted({x for line in drawn.lines for x in (line[0], line[2])})
    near, far = 0.2 * 50 / 1.8, 0.2 * 50 / 2.2
    assert xs == pytest.approx([31.5 - near, 31.5 - far, 31.5 + far, 31.5 + near], abs=0.06)
    assert len(drawn.lines) == 12


def test_a_turned_box_turns_counterclockwise() -> None:
    """Seen from straight above: the long side of a box at yaw 30 points 30 degrees from east towards north."""
    thing = box(1, "desk", (0.0, 0.0, 0.0))
    thing["obb"] = {"center": [0, 0, 0], "size": [2.0, 0.001, 0.001], "yaw_deg": 30.0}
    down = [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 5, 0, 0, 0, 1]  # right is east, up in the picture is north
    (drawn,) = boxes_in(view("0", down), [thing])
    x1, y1, x2, y2 = max(drawn.lines, key=lambda line: np.hypot(line[2] - line[0], line[3] - line[1]))
    assert np.degrees(np.arctan2(-(y2 - y1), x2 - x1)) % 180.0 == pytest.approx(30.0, abs=0.5)


def test_what_is_behind_the_camera_is_not_drawn_and_what_crosses_it_is_cut() -> None:
    camera = view("0", camera_looking(0.0, 1.0))
    assert boxes_in(camera, [box(1, "lamp", (0.0, -3.0, 1.5))]) == []
    (drawn,) = boxes_in(camera, [box(1, "rug", (0.0, 0.0, 1.0), size=4.0)])
    assert 0 < len(drawn.lines) < 12
    assert drawn.place is None
    assert np.isfinite(drawn.lines).all()


def test_labels_at_the_border_stay_inside() -> None:
    camera = view("0", camera_looking(0.0, 1.0))
    anchors = [boxes_in(camera, [box(1, "lamp", (x, 2.0, 1.5))])[0].anchor for x in (-1.2, 0.0, 1.2)]
    assert anchors == ["start", "middle", "end"]


def test_facts_are_shown_whole(tmp_path) -> None:
    row = direction_question("q", "scene0000_00", "left", np.random.default_rng(0))
    write_report(write(tmp_path / "set", [row]), tmp_path / "site")
    text = (tmp_path / "site" / "l1-camera-direction.html").read_text()
    shown = re.search(r"<pre>(.*?)</pre>", text, re.DOTALL)
    assert shown is not None
    assert json.loads(shown[1].replace("&#34;", '"')) == row.facts
    assert facts_with()["schema"] in shown[1]


# -- several pictures -------------------------------------------------------------------------------------------------


def chain_row(bridges: int = 1, uid: str = "q"):
    """A lamp (moved along unnamed: a rug) in the first picture, a bed in the last; all before each camera."""
    roles = ["main_a", *["bridge"] * bridges, "main_b"]
    views = [{**view(str(n), camera_looking(0.0, 1.0, (0.1 * n, 0.0, 1.5))), "role": r} for n, r in enumerate(roles)]
    facts = facts_with(
        objects=[
            box(1, "rug", (0.3, 2.0, 1.5), ["moved"]),
            box(2, "lamp", (0.0, 2.0, 1.5), ["mover", "query"]),
            box(3, "bed", (0.5, 3.0, 1.5), ["reference"]),
        ],
        views=views,
        relation={"kind": "direction", "target": 2, "reference": 3, "before": {"value": "left"}, "after": None},
        options=[{"text": word, "value": word, "tag": tag} for word, tag in (("left", None), ("right", "mirrored"))],
    )
    return row_with("direction_agent", uid, "scene0000_00", "Where is the lamp from the bed?", facts)


def test_a_main_picture_is_drawn_what_it_is_said_to_show_and_not_what_the_other_one_shows() -> None:
    drawn = boxes_of(chain_row().facts)
    assert [[(b.label, b.is_told) for b in boxes] for boxes in drawn] == [
        [("lamp", True), ("rug", False)],
        [("lamp", False), ("bed", False), ("rug", False)],
        [("bed", True), ("rug", False)],
    ]
    assert {(b.label, b.color) for boxes in drawn for b in boxes} == {
        ("lamp", "#d55e00"), ("bed", "#0072b2"), ("rug", "#009e73")
    }  # fmt: skip
    assert [(m.item["label"], m.pictures) for m in marks_of(chain_row().facts)] == [
        ("lamp", (1,)), ("bed", (3,)), ("rug", ())
    ]  # fmt: skip


def test_one_picture_has_all_boxes_told() -> None:
    facts = {**chain_row().facts, "views": [view("0", camera_looking(0.0, 1.0))]}
    assert [(b.label, b.is_told) for b in boxes_of(facts)[0]] == [("lamp", True), ("bed", True), ("rug", True)]


def test_pictures_stand_in_walking_order_with_their_roles(tmp_path) -> None:
    rows = [chain_row(2), direction_question("r", "scene0000_00", "left", np.random.default_rng(0))]
    write_report(write(tmp_path / "set", rows), tmp_path / "site")
    text = (tmp_path / "site" / "l1-camera-direction.html").read_text()
    chain, single = re.findall(r'<article class="card.*?</article>', text, re.DOTALL)
    if 'id="q"' not in chain:
        chain, single = single, chain
    captions = [re.sub(r"<[^>]+>", "", c) for c in re.findall(r"<figcaption>(.*?)</figcaption>", chain)]
    assert captions == ["1 main A · 0 · lamp", "2 bridge · 1", "3 bridge · 2", "4 main B · 3 · bed"]
    assert 'aria-label="4 pictures in walking order"' in chain
    assert "in which one is to look for: bed" in chain
    assert "lamp (mover, query) in 1" in re.sub(r"<[^>]+>", "", chain)
    assert 'class="strip"' not in single
    assert 'data-pictures="3+"' in chain
    assert 'data-pictures="1"' in single
    assert '<select id="pictures">' in text
    files = re.findall(r'<img src="([^"]+)"', chain)
    pictures = Benchmark.open(tmp_path / "set").pictures("q")
    assert [(tmp_path / "site" / name).read_bytes() for name in files] == [p.encoded for p in pictures]


@pytest.mark.parametrize("bridges", range(7))
def test_a_contact_sheet_shows_all_pictures_of_a_question(bridges: int, tmp_path) -> None:
    """Plain pictures, each in a grey of its own: all of them are on the sheet, in reading order."""
    row = chain_row(bridges)
    greys = [20 * (n + 1) for n in range(bridges + 2)]
    pictures = []
    for grey in greys:
        file = io.BytesIO()
        Image.new("RGB", (64, 48), (grey, 255, grey)).save(file, "PNG")
        pictures.append(file.getvalue())
    write_contact_sheet(write(tmp_path / "set", [row], pictures=[pictures]), tmp_path / "sheet.png")
    pixels = np.asarray(Image.open(tmp_path / "sheet.png").convert("RGB")).astype(int)
    found = {}
    for grey in greys:
        rows, columns = np.nonzero((pixels == (grey, 255, grey)).all(axis=2))
        assert len(rows) > 1000
        found[grey] = (round(np.median(rows) / 50), np.median(columns))
    assert sorted(greys, key=found.__getitem__) == greys


def test_evidence_is_on_the_page_where_the_dataset_has_it(tmp_path) -> None:
    folder = write(tmp_path / "set", [chain_row()])
    (folder / "evidence").mkdir()
    manifest = json.loads((folder / "release_manifest.json").read_text())
    manifest["evidence"] = {}
    for name, content in (("evidence/q.txt", b"lamp <id 2>"), ("evidence/q.png", b"\x89PNG of the map")):
        (folder / name).write_bytes(content)
        manifest["evidence"][name] = hashlib.sha256(content).hexdigest()
    (folder / "release_manifest.json").write_text(json.dumps(manifest))
    write_report(folder, tmp_path / "site")
    text = (tmp_path / "site" / "l1-camera-direction.html").read_text()
    assert "lamp &lt;id 2&gt;" in text
    (name,) = set(re.findall(r'<img class="map" src="([^"]+)"', text))
    assert (tmp_path / "site" / name).read_bytes() == b"\x89PNG of the map"
