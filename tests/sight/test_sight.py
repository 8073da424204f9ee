"""Id images of any state, against a brute-force caster and against a mesh built anew."""

import gc
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from spacecast.frames import Transform
from spacecast.scan import NO_INSTANCE, Scan
from spacecast.scene import Scene
from spacecast.sight import NO_HIT, NO_OBJECT, Camera, Sight, sight_of

from .small import FURNITURE, agreement, brute_force, small_scan, standing

CAMERAS = {
    "from the door": standing(-1.5, -1.7, 1.6, (0.4, 0.8, 0.4)),
    "over the chair": standing(-0.6, 0.2, 1.2, (0.7, 0.9, 0.5)),
    "from the floor": standing(1.6, -1.0, 0.1, (0.0, 0.6, 0.4)),
    "over the wall": standing(0.0, 3.4, 3.4, (0.2, 0.5, 0.3)),
}


def shift(x: float, y: float, z: float = 0.0) -> Transform:
    return Transform.from_translation((x, y, z), target="world", source="object")


def turn(yaw_deg: float, about: tuple[float, float, float]) -> Transform:
    return Transform.from_yaw_deg(yaw_deg, target="world", source="object", about=about)


POSES: dict[str, tuple[Mapping[int, Transform], tuple[int, ...]]] = {
    "as scanned": ({}, ()),
    "chair moved": ({3: shift(0.87, -0.43)}, ()),
    "desk and lamp turned": ({0: turn(40.0, (0.7, 0.9, 0.0)), 7: turn(40.0, (0.7, 0.9, 0.0))}, ()),
    "bin gone": ({}, (12,)),
    "desk gone, lamp aloft, chair turned": ({7: shift(-0.3, -0.2, 0.6), 3: turn(90.0, (0.0, 0.0, 0.0))}, (0,)),
    "all but one gone": ({}, (0, 3, 7)),
}


def changed(scene: Scene, poses: Mapping[int, Transform], removed: Iterable[int]) -> Scene:
    objects = {i: replace(o, world_from_object=poses.get(i, o.world_from_object)) for i, o in scene.objects.items()}
    objects = {i: o for i, o in objects.items() if i not in removed}
    return replace(scene, objects=objects, rest=scene.rest.without({*poses, *removed}))


def rebuilt(scan: Scan, poses: Mapping[int, Transform], removed: Iterable[int]) -> tuple[np.ndarray, ...]:
    """The changed mesh made plainly from the scan: vertices, faces, id per face."""
    vertices = scan.vertices.astype(np.float64)
    for object_id, pose in poses.items():
        vertices[scan.instance_ids == object_id] = pose @ scan.vertices[scan.instance_ids == object_id]
    corners = scan.instance_ids[scan.faces]
    mixed = (corners != corners[:, :1]).any(axis=1)
    dropped = np.isin(corners, list(removed)).any(axis=1) | (mixed & np.isin(corners, list(poses)).any(axis=1))
    ids = np.where(mixed, NO_INSTANCE, corners[:, 0])
    return vertices, scan.faces[~dropped], ids[~dropped]


@pytest.fixture(scope="module")
def scan() -> Scan:
    return small_scan(FURNITURE)


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS.keys())
@pytest.mark.parametrize(("poses", "removed"), POSES.values(), ids=POSES.keys())
def test_an_id_image_is_what_every_ray_against_every_face_gives(
    scan: Scan, camera: Camera, poses: Mapping[int, Transform], removed: tuple[int, ...]
) -> None:
    found = sight_of(changed(Scene.from_scan(scan), poses, removed)).id_image(camera, threads=1)
    expected = brute_force(*rebuilt(scan, poses, removed), camera)
    assert len(np.unique(expected.ids)) > 2, "the camera sees too little to tell"
    assert agreement(found, expected) > 0.999


@pytest.mark.parametrize("camera", CAMERAS.values(), ids=CAMERAS.keys())
@pytest.mark.parametrize(("poses", "removed"), POSES.values(), ids=POSES.keys())
def test_silhouettes_are_what_each_object_alone_gives(
    scan: Scan, camera: Camera, poses: Mapping[int, Transform], removed: tuple[int, ...]
) -> None:
    scene = changed(Scene.from_scan(scan), poses, removed)
    vertices, faces, ids = rebuilt(scan, poses, removed)
    whole = brute_force(vertices, faces, ids, camera)
    look = sight_of(scene).look(camera, width_px=camera.intrinsics.width)
    for object_id in scene.objects:
        alone = brute_force(vertices, faces[ids == object_id], ids[ids == object_id], camera)
        silhouette = np.isfinite(alone.depth)
        seen = look.visibility(object_id)
        assert seen.silhouette_px == pytest.approx(silhouette.sum(), abs=3)
        assert seen.visible_px == pytest.approx((silhouette & (whole.ids == object_id)).sum(), abs=3)
        assert (look.mask(object_id) != silhouette).mean() < 0.001


@pytest.mark.parametrize(("poses", "removed"), POSES.values(), ids=POSES.keys())
def test_a_state_is_seen_as_a_scan_of_it_would_be(
    scan: Scan, poses: Mapping[int, Transform], removed: tuple[int, ...]
) -> None:
    vertices, faces, _ = rebuilt(scan, poses, removed)
    again = replace(
        scan,
        vertices=vertices.astype(np.float32),
        faces=faces,
        instance_ids=np.where(np.isin(scan.instance_ids, removed), NO_INSTANCE, scan.instance_ids).astype(np.int32),
        instances={i: x for i, x in scan.instances.items() if i not in removed},
    )
    for camera in CAMERAS.values():
        state = sight_of(changed(Scene.from_scan(scan), poses, removed)).id_image(camera)
        assert agreement(state, sight_of(Scene.from_scan(again)).id_image(camera)) > 0.999


def test_unlabelled_and_mixed_faces_are_seen_and_belong_to_nobody(scan: Scan) -> None:
    image = sight_of(Scene.from_scan(scan)).id_image(CAMERAS["over the chair"])
    west = sight_of(Scene.from_scan(scan)).id_image(standing(0.0, -1.0, 1.2, (-2.0, -1.0, 1.2)))
    assert (west.ids == NO_OBJECT).mean() > 0.5, "the west wall has no label"
    assert set(np.unique(image.ids)) <= {*Scene.from_scan(scan).objects, NO_OBJECT, NO_HIT}
    assert ((image.ids == NO_HIT) == np.isinf(image.depth)).all()


def test_nothing_is_seen_where_nothing_is(scan: Scan) -> None:
    image = sight_of(Scene.from_scan(scan)).id_image(standing(0.0, -3.0, 1.0, (0.0, -9.0, 1.0)))
    assert (image.ids == NO_HIT).all()
    assert np.isinf(image.depth).all()


def test_a_removed_object_takes_its_mixed_faces_with_it_and_no_others(scan: Scan) -> None:
    scene = Scene.from_scan(scan)
    touching = {tuple(sorted({*row} - {90})) for row in scene.rest.touches.tolist() if set(row) & {0, 3, 7, 12}}
    assert len(touching) > 3, "the scan has too few mixed faces to tell"
    state = changed(scene, {}, (12,))
    kept = sum(part.rays.face_count for part in sight_of(state).parts)
    gone = np.isin(scan.instance_ids[scan.faces], (12,)).any(axis=1).sum()
    assert kept == len(scan.faces) - gone


def test_states_share_what_they_are_cast_against(scan: Scan) -> None:
    scene = Scene.from_scan(scan)
    one = Sight(changed(scene, {3: shift(0.4, 0.0)}, ()))
    other = Sight(changed(scene, {3: shift(0.0, 0.4)}, ()))
    shared = {id(part.rays) for part in one.parts} & {id(part.rays) for part in other.parts}
    assert len(one.parts) > 4
    assert len(shared) == len(one.parts)


def test_ray_casting_scenes_go_when_the_shapes_go() -> None:
    scene = Scene.from_scan(small_scan(FURNITURE, seed=5))
    sight = Sight(changed(scene, {3: shift(0.4, 0.0)}, ()))
    alive = [weakref.ref(part.rays) for part in sight.parts]
    sight.id_image(CAMERAS["from the door"])
    del scene, sight
    gc.collect()
    assert [ref() for ref in alive] == [None] * len(alive)


def test_threads_do_not_change_what_is_seen(scan: Scan) -> None:
    scene, camera = Scene.from_scan(scan), CAMERAS["from the door"]
    one, two = Sight(scene).id_image(camera, threads=1), Sight(scene).id_image(camera, threads=2)
    assert (one.ids == two.ids).all()
    assert (one.depth == two.depth).all()
