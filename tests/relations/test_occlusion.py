"""The table of states by hand-made coverings, and properties of pairs."""

import numpy as np
import pytest

from spacecast.errors import RelationError, UnknownObjectError
from spacecast.frames import Intrinsics, Transform
from spacecast.geometry.boxes import box_mesh
from spacecast.relations.occlusion import Occluder, occluders, occlusion, pairwise_occlusion
from spacecast.scan import Instance, View
from spacecast.scene import LabelledBox, RestMesh, Scene, SceneObject, Shape
from spacecast.sight import Camera

NORTH = Transform("world", "camera", np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), np.zeros(3))
CAMERA = Camera(NORTH, Intrinsics(320.0, 320.0, 319.5, 239.5, 640, 480))
THIN = 1e-3


def plate(
    id: int,
    x: tuple[float, float],
    z: tuple[float, float],
    at_m: float,
    *,
    label: str = "",
    traits: tuple[str, ...] = (),
) -> LabelledBox:
    center = (sum(x) / 2, at_m + THIN / 2, sum(z) / 2)
    size = (x[1] - x[0], THIN, z[1] - z[0])
    return LabelledBox(id, label or f"plate {id}", center, size, traits=frozenset(traits))


TARGET = plate(1, (-0.5, 0.5), (-0.5, 0.5), 2.0, label="picture")
"""160 by 160 pixels: one column is 1/160 of it."""


def cover(columns: int, at_m: float = 1.0, traits: tuple[str, ...] = ()) -> LabelledBox:
    right = (239.5 + columns - 319.5) / 320 * at_m
    return plate(2, (right - 2.0, right), (-1.5, 1.5), at_m, label="screen", traits=traits)


@pytest.mark.parametrize(
    ("columns", "value", "reasons"),
    [
        (0, "not occluded", ()),
        (1, "not occluded", ()),  # blocked 0.006, but a sliver
        (4, "not occluded", ()),  # blocked 0.025, still a sliver
        (5, None, ("grey_zone",)),  # blocked and opened 0.031
        (16, None, ("grey_zone",)),  # opened 0.10: not above
        (17, "occluded", ()),
        (80, "occluded", ()),
        (152, "occluded", ()),  # V/S 0.05: at least
        (153, None, ("grey_zone",)),  # V/S 0.044
        (160, "not visible", ()),
    ],
)
def test_the_state_follows_from_how_many_columns_are_hidden(
    columns: int, value: str | None, reasons: tuple[str, ...]
) -> None:
    answer = occlusion(Scene.from_boxes([TARGET, cover(columns)]), "picture", view=CAMERA)
    assert (answer.value, answer.reasons) == (value, reasons)
    assert answer.numbers["blocked"] == pytest.approx(columns / 160)
    assert answer.certain == (not reasons)


@pytest.mark.parametrize(("columns", "name", "margin"), [(0, "clear_by", 0.005), (48, "hidden_by", 0.2)])
def test_margins_say_how_far_the_bound_is(columns: int, name: str, margin: float) -> None:
    answer = occlusion(Scene.from_boxes([TARGET, cover(columns)]), 1, view=CAMERA)
    assert answer.margins[name] == pytest.approx(margin)
    assert answer.margins["silhouette_px"] == 160 * 160 - 400


@pytest.mark.parametrize(("side_px", "value", "reasons"), [(19, None, ("small_silhouette",)), (20, "not occluded", ())])
def test_a_silhouette_needs_400_pixels(side_px: int, value: str | None, reasons: tuple[str, ...]) -> None:
    half = side_px / 2 / 320 * 2.0
    center = 0.0 if side_px % 2 == 0 else 0.5 / 320 * 2.0
    target = plate(1, (center - half, center + half), (center - half, center + half), 2.0)
    answer = occlusion(Scene.from_boxes([target]), 1, view=CAMERA)
    assert answer.numbers["silhouette_px"] == side_px**2
    assert (answer.value, answer.reasons) == (value, reasons)


def test_the_400_pixels_scale_with_the_area_of_the_picture() -> None:
    """In a picture of half the height, 640x240, 200 pixels are enough."""
    flat = Camera(NORTH, Intrinsics(320.0, 320.0, 319.5, 119.5, 640, 240))
    half = 16 / 2 / 320 * 2.0
    scene = Scene.from_boxes([plate(1, (-half, half), (-half, half), 2.0)])
    assert occlusion(scene, 1, view=flat).value == "not occluded"
    assert occlusion(scene, 1, view=CAMERA).reasons == ("small_silhouette",)


def test_cut_by_the_frame_is_not_occluded_and_behind_is_not_visible() -> None:
    cut = plate(1, (0.5, 1.9), (-0.5, 0.5), 1.0)
    behind = plate(2, (-0.5, 0.5), (-0.5, 0.5), -2.0)
    scene = Scene.from_boxes([cut, behind])
    answer = occlusion(scene, 1, view=CAMERA)
    assert answer.value == "not occluded"
    assert answer.numbers["truncation"] > 0.6
    answer = occlusion(scene, 2, view=CAMERA)
    assert (answer.value, answer.reasons, answer.numbers["silhouette_px"]) == ("not visible", (), 0)


def test_what_hides_by_less_than_5_cm_makes_nothing_occluded() -> None:
    assert occlusion(Scene.from_boxes([TARGET, cover(80, at_m=1.94)]), 1, view=CAMERA).value == "occluded"
    answer = occlusion(Scene.from_boxes([TARGET, cover(80, at_m=1.96)]), 1, view=CAMERA)
    assert (answer.value, answer.reasons) == (None, ("grey_zone",))


def test_see_through_things_are_uncertain_as_targets_and_as_main_occluders() -> None:
    glass = ("see_through",)
    answer = occlusion(Scene.from_boxes([TARGET, cover(80, traits=glass)]), 1, view=CAMERA)
    assert (answer.value, answer.reasons) == ("occluded", ("see_through_occluder",))
    answer = occlusion(Scene.from_boxes([TARGET, cover(160, traits=glass)]), 1, view=CAMERA)
    assert (answer.value, answer.reasons) == ("not visible", ("see_through_occluder",))
    answer = occlusion(Scene.from_boxes([TARGET, cover(80, traits=glass)]), 2, view=CAMERA)
    assert (answer.value, answer.reasons) == ("not occluded", ("see_through",))


@pytest.mark.parametrize(("columns", "reasons"), [(7, ()), (9, ("sensor_disagrees",))])
def test_more_than_5_percent_that_the_sensor_saw_in_front_is_uncertain(columns: int, reasons: tuple[str, ...]) -> None:
    depth = np.full((480, 640), 2.0, np.float32)
    depth[:, 240 : 240 + columns] = 1.0
    view = View("0", NORTH, CAMERA.intrinsics, load_depth=lambda: depth, depth_intrinsics=CAMERA.intrinsics)
    answer = occlusion(Scene.from_boxes([TARGET]), 1, view=view)
    assert (answer.value, answer.reasons) == ("not occluded", reasons)


def test_holes_around_a_target_are_uncertain_unless_there_is_sensor_depth() -> None:
    """A table seen from the front: between its legs is nothing, which is a hole of the scan, or a wall."""
    parts = [
        ((0.0, 2.0, 0.35), (1.0, 0.1, 0.1)),
        ((-0.45, 2.0, 0.0), (0.1, 0.1, 0.7)),
        ((0.45, 2.0, 0.0), (0.1, 0.1, 0.7)),
    ]
    meshes = [box_mesh(center, size, np.eye(3)) for center, size in parts]
    shape = Shape.from_mesh(
        np.concatenate([v for v, _ in meshes]), np.concatenate([f + 8 * i for i, (_, f) in enumerate(meshes)])
    )
    table = SceneObject(Instance(1, "table", "table"), shape, Transform.identity(target="world", source="object"))
    wall = Scene.from_boxes([plate(9, (-9.0, 9.0), (-9.0, 9.0), 3.0, label="wall", traits=("structure",))])
    alone = Scene("s", "d", True, {1: table})
    before_a_wall = Scene("s", "d", True, {1: table, 9: wall.objects[9]})
    depth = np.full((480, 640), 3.0, np.float32)
    view = View("0", NORTH, CAMERA.intrinsics, load_depth=lambda: depth, depth_intrinsics=CAMERA.intrinsics)
    for scene, seen_from, reasons in ((alone, CAMERA, ("holes",)), (alone, view, ()), (before_a_wall, CAMERA, ())):
        answer = occlusion(scene, "table", view=seen_from)
        assert (answer.value, answer.reasons) == ("not occluded", reasons)


def test_faces_without_a_label_hide_like_everything_else() -> None:
    vertices, faces = box_mesh(cover(80).center, cover(80).size, np.eye(3))
    rest = RestMesh(vertices.astype(np.float32), faces.astype(np.int32), np.full((len(faces), 3), -1, np.int32))
    bare = Scene.from_boxes([TARGET])
    scene = Scene("s", "d", True, bare.objects, rest)
    assert occlusion(bare, 1, view=CAMERA).value == "not occluded"
    assert occlusion(scene, 1, view=CAMERA).value == "occluded"
    assert occluders(scene, 1, view=CAMERA) == (Occluder(-1, "unlabelled", 80 * 160, 0.5),)


def test_mixed_faces_hide_until_what_they_touch_is_gone() -> None:
    """A flap between the screen and the floor hides the picture; it goes with the screen."""
    vertices, faces = box_mesh(cover(80).center, cover(80).size, np.eye(3))
    touches = np.tile(np.array([2, 9, 2], np.int32), (len(faces), 1))
    rest = RestMesh(vertices.astype(np.float32), faces.astype(np.int32), touches)
    beside = plate(2, (3.0, 4.0), (-0.5, 0.5), 1.0, label="screen")
    floor = plate(9, (-4.0, 4.0), (-3.0, -2.9), 1.0, label="floor", traits=("structure", "floor"))
    scene = Scene("s", "d", True, Scene.from_boxes([TARGET, beside, floor]).objects, rest)
    assert occlusion(scene, 1, view=CAMERA).value == "occluded"
    assert occlusion(scene._with_poses({}, removed=[2]), 1, view=CAMERA).value == "not occluded"


def test_who_hides_how_much() -> None:
    right = plate(3, (0.0, 1.0), (-1.5, 1.5), 1.2, label="door")
    found = occluders(Scene.from_boxes([TARGET, cover(16), right]), "picture", view=CAMERA)
    assert found == (Occluder(3, "door", 80 * 160, 0.5), Occluder(2, "screen", 16 * 160, pytest.approx(0.1)))


def test_names_that_nothing_has_are_errors() -> None:
    with pytest.raises(UnknownObjectError, match="picture"):
        occlusion(Scene.from_boxes([TARGET]), "pictur", view=CAMERA)


# pairs


@pytest.mark.parametrize(
    ("columns", "value", "reasons"),
    [
        (0, "neither", ()),
        (4, "neither", ()),  # a sliver
        (5, None, ("grey_zone",)),
        (15, None, ("grey_zone",)),
        (16, "query_occluded", ()),  # 0.10: at least
        (150, "query_occluded", ()),
    ],
)
def test_a_pair_follows_from_how_many_columns_are_hidden(
    columns: int, value: str | None, reasons: tuple[str, ...]
) -> None:
    scene = Scene.from_boxes([TARGET, _whole_cover(columns)])
    answer = pairwise_occlusion(scene, 1, 2, view=CAMERA)
    assert (answer.value, answer.reasons) == (value, reasons)
    swapped = pairwise_occlusion(scene, 2, 1, view=CAMERA)
    assert swapped.value == {"query_occluded": "reference_occluded"}.get(value, value)
    assert swapped.reasons == reasons


def _whole_cover(columns: int) -> LabelledBox:
    """Hides columns from the left, and lies in the picture."""
    right = (239.5 + columns - 319.5) / 320
    return plate(2, (right - 0.7, right), (-0.6, 0.6), 1.0)


def test_a_third_that_hides_both_says_nothing_of_the_pair() -> None:
    """The query is hidden by a third; the other stands beside it."""
    beside = plate(2, (0.6, 1.4), (-0.5, 0.5), 2.0)
    third = plate(3, (-0.6, 0.0), (-0.6, 0.6), 1.0)
    answer = pairwise_occlusion(Scene.from_boxes([TARGET, beside, third]), 1, 2, view=CAMERA)
    assert (answer.value, answer.certain) == ("neither", True)
    assert answer.numbers["query_blocked"] == pytest.approx(0.5)


def test_a_reference_that_itself_is_hidden_where_it_covers_is_in_the_grey_zone() -> None:
    """Someone else is the first hit on most of what hides the query, but the reference stands between: not neither."""
    between = plate(2, (-0.4, 0.0), (-0.5, 0.5), 1.5)
    first = plate(3, (-0.5, 0.0), (-0.6, 0.6), 1.0)
    answer = pairwise_occlusion(Scene.from_boxes([TARGET, between, first]), 1, 2, view=CAMERA)
    assert (answer.value, answer.reasons) == (None, ("grey_zone",))


def test_each_hiding_the_other_is_not_asked() -> None:
    """Two crossed bars, each in front of the other at one end."""
    one = LabelledBox(
        1, "one", (0.0, 2.0, 0.2), (2.0, 0.05, 0.4), Transform.from_yaw_deg(30.0, target="world", source="box").rotation
    )
    other = LabelledBox(
        2,
        "other",
        (0.0, 2.0, 0.2),
        (2.0, 0.05, 0.4),
        Transform.from_yaw_deg(-30.0, target="world", source="box").rotation,
    )
    answer = pairwise_occlusion(Scene.from_boxes([one, other]), 1, 2, view=CAMERA)
    assert (answer.value, answer.reasons) == (None, ("both_ways",))


def test_a_pair_that_is_cut_or_small_is_uncertain() -> None:
    cut = plate(2, (0.9, 3.0), (-0.5, 0.5), 1.0)
    assert "truncated" in pairwise_occlusion(Scene.from_boxes([TARGET, cut]), 1, 2, view=CAMERA).reasons
    small = plate(2, (0.6, 0.7), (-0.05, 0.05), 2.0)
    answer = pairwise_occlusion(Scene.from_boxes([TARGET, small]), 1, 2, view=CAMERA)
    assert (answer.value, answer.reasons) == (None, ("small_silhouette",))


def test_an_object_and_itself_is_no_pair() -> None:
    with pytest.raises(RelationError, match="two objects"):
        pairwise_occlusion(Scene.from_boxes([TARGET]), 1, "picture", view=CAMERA)


# properties


def _room(move: Transform, ids: tuple[int, int, int] = (1, 2, 3)) -> tuple[Scene, Camera]:
    boxes = [
        ("chair", (0.3, 2.0, 0.5), (0.5, 0.5, 1.0)),
        ("desk", (-0.2, 3.0, 0.4), (1.4, 0.7, 0.8)),
        ("shelf", (-0.9, 3.6, 1.0), (0.8, 0.3, 2.0)),
    ]
    made = [
        LabelledBox(i, label, move @ np.array(center), size, move.rotation)
        for i, (label, center, size) in zip(ids, boxes, strict=True)
    ]
    camera = Transform.looking_at((0.0, 0.0, 1.4), (-0.1, 2.5, 0.6), target="before", source="camera")
    return Scene.from_boxes(made), Camera(move @ camera, CAMERA.intrinsics)


@pytest.mark.parametrize("yaw_deg", [0.0, 90.0, 180.0, 270.0, 33.0])
@pytest.mark.parametrize("shift", [(0.0, 0.0, 0.0), (40.0, -7.0, 3.0)])
def test_occlusion_does_not_depend_on_where_the_origin_is(yaw_deg: float, shift: tuple[float, ...]) -> None:
    turn = Transform.from_yaw_deg(yaw_deg, target="world", source="before")
    move = Transform("world", "before", turn.rotation, np.array(shift))
    reference, moved = _room(Transform.identity(target="world", source="before")), _room(move)
    for label in ("chair", "desk", "shelf"):
        one, two = occlusion(reference[0], label, view=reference[1]), occlusion(moved[0], label, view=moved[1])
        assert (one.value, one.reasons) == (two.value, two.reasons)
        assert one.numbers["silhouette_px"] == pytest.approx(two.numbers["silhouette_px"], rel=0.002)
        assert one.numbers["blocked"] == pytest.approx(two.numbers["blocked"], abs=0.002)
    assert occlusion(reference[0], "desk", view=reference[1]).value == "occluded"


def test_occlusion_does_not_depend_on_ids() -> None:
    here = Transform.identity(target="world", source="before")
    (scene, camera), (renamed, _) = _room(here), _room(here, ids=(70, 0, 12))
    for label in ("chair", "desk", "shelf"):
        assert occlusion(scene, label, view=camera) == occlusion(renamed, label, view=camera)
