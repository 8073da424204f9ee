"""The posed pictures of a ScanNet scene: from exported files, or from the ``.sens`` stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scannet_tools.exported import ExportedFrame, exported_frames, find_intrinsic, read_matrix, stored_size
from scannet_tools.pictures import SETTINGS as PICTURES
from scannet_tools.pictures import encode_color
from scannet_tools.raw_files import is_name
from scannet_tools.sens import SensFile, SensFrame, SensHeader
from spacecast.errors import FrameError, InputError, SpacecastError
from spacecast.frames import Intrinsics, Transform
from spacecast.scan import Problem, View

Loader = Callable[[], NDArray[np.float32]]


@dataclass(frozen=True)
class FrameReadingSettings:
    """Bounds in reading frames."""

    max_aspect_change: float = 0.02
    """A picture whose aspect differs from the camera's by a larger share is not that camera's; FAULTS, raw scans."""
    min_registration: float = 1e-6
    """A colorToDepthExtrinsics that differs from the identity by no more, in any entry, needs no registration (own)."""
    max_counted_frames: int = 100_000
    """Missing frames beyond this are one problem: the announced number is not believable (own)."""
    min_focal_share: float = 0.05
    """A focal length that is a smaller share of the picture's longer side is none (own) ..."""
    max_focal_share: float = 50.0
    """... and neither is one that is a larger share (own)."""
    max_camera_distance_m: float = 10_000.0
    """A camera farther from the origin is not in the room (own; real ones are within some 20 m)."""


SETTINGS = FrameReadingSettings()


@dataclass(frozen=True)
class Camera:
    """Focal lengths and principal point of a camera, and the picture size that they are for, None if not stated."""

    fx: float
    fy: float
    cx: float
    cy: float
    size: tuple[int, int] | None

    def intrinsics(self, size: tuple[int, int]) -> Intrinsics | None:
        """Of a picture of a size (width, height); None where its aspect is another.

        Raises:
            FrameError: focal lengths, principal point or stated size are no numbers of a camera.
        """
        width, height = self.size or size
        if self.size is not None:
            check_camera((self.fx, self.fy), (self.cx, self.cy), self.size)
        across, along = (
            size[0] * height,
            size[1] * width,
        )  # equal where the aspect is; whole numbers, so the bound is exact
        if abs(across - along) > SETTINGS.max_aspect_change * along:
            return None
        return Intrinsics(self.fx, self.fy, self.cx, self.cy, width, height).scaled_to(*size)


def check_camera(focal: tuple[float, float], center: tuple[float, float], size: tuple[float, float]) -> None:
    """Hold what a file states of a camera, in pixels, against what cameras have.

    Raises:
        FrameError: a size beyond that of pictures, focal lengths beyond the bounds of :data:`SETTINGS`, or a principal
            point outside of the picture.
    """
    (fx, fy), (cx, cy), (width, height) = focal, center, size
    longer = max(size)
    if longer > PICTURES.max_side_px or width * height > PICTURES.max_area_px:
        raise FrameError(f"a camera for pictures of {width:.4g} x {height:.4g} px is not believable")
    low, high = SETTINGS.min_focal_share * longer, SETTINGS.max_focal_share * longer
    if not (low <= fx <= high and low <= fy <= high):
        raise FrameError(f"focal lengths of {fx:.4g} and {fy:.4g} px for {longer} px are not believable")
    if not (0.0 <= cx <= width and 0.0 <= cy <= height):
        raise FrameError(f"the principal point ({cx:.4g}, {cy:.4g}) lies outside of {width} x {height} px")


def why_not_near(camera_pose: Transform) -> str | None:
    """Why a camera stands nowhere near a room, or None."""
    farthest_m = float(np.abs(camera_pose.translation).max())
    return f"its camera stands {farthest_m:.4g} m off" if farthest_m > SETTINGS.max_camera_distance_m else None


@dataclass(frozen=True)
class Cameras:
    """The colour and the depth camera of a scene, and depth_from_color where both do not coincide."""

    color: Camera | None
    depth: Camera | None
    stated_sizes: Mapping[str, tuple[int, int] | None]
    depth_from_color: Transform | None = None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def from_values(cls, values: Mapping[str, str]) -> Cameras:
        """From the ``key = value`` lines of a scene's ``.txt``; a camera that is missing or broken there is None."""
        problems = []
        depth_from_color = None
        text = values.get("colorToDepthExtrinsics")
        if text is not None:
            try:
                matrix = np.array(text.split(), dtype=np.float64).reshape(4, 4)
                moved = Transform.from_matrix(matrix, target="depth_camera", source="camera")
                if np.abs(moved.matrix - np.eye(4)).max() > SETTINGS.min_registration:
                    depth_from_color = moved
            except ValueError as error:
                problems.append(Problem("no_camera", "colorToDepthExtrinsics", f"taken as the identity: {error}"))
        sizes = {kind: _stated_size(values, kind) for kind in ("color", "depth")}
        return cls(_camera(values, "color"), _camera(values, "depth"), sizes, depth_from_color, tuple(problems))


class Frames(NamedTuple):
    """Views by name in capture order, what was wrong, and the files read whose bytes matter to all views."""

    views: dict[str, View]
    problems: tuple[Problem, ...]
    input_files: dict[str, Path]


def read_views(folder: Path, scene_id: str, cameras: Cameras, world_from_scan: Transform) -> Frames:
    """The views of a scene, without loading a picture.

    Exported frames are taken where there are colour files, or no ``.sens`` that can be used; they lie in the
    scene's folder, or in ``scannet_frames_25k`` beside the scenes or beside their folder.
    """
    problems = list(cameras.problems)
    sens_path = folder / f"{scene_id}.sens"
    source, exported = folder, exported_frames(folder)
    for place in (folder.parent, folder.parent.parent):
        if not exported and not sens_path.is_file():
            source = place / "scannet_frames_25k" / scene_id
            exported = exported_frames(source)
    inputs: dict[str, Path] = {}
    sens = None
    if sens_path.is_file() and not any(frame.color for frame in exported):
        sens = _open_sens(sens_path, problems)
    if sens is not None:
        cameras = _with_header(sens.header, cameras)
        raws = [_raw_sens(frame) for frame in sens]
    else:
        cameras, inputs = _with_intrinsic_files(source, cameras, problems)
        raws = [_raw_exported(frame) for frame in exported]
    views = _views(raws, cameras, world_from_scan, problems)
    if not views:
        problems.append(Problem("no_frames", scene_id, "no usable frame"))
    elif not any(view.load_depth for view in views.values()) and not any(p.kind == "no_depth" for p in problems):
        problems.append(Problem("no_depth", scene_id, "no sensor depth"))
    return Frames(views, tuple(problems), inputs)


class _Raw(NamedTuple):
    """A frame of either source: sizes and loaders are asked for one by one, None where there is no such picture."""

    name: str
    scan_from_camera: Callable[[], ArrayLike] | None
    color_size: Callable[[], tuple[int, int]] | None
    load_color: Callable[[], NDArray[np.uint8]] | None
    load_encoded: Callable[[], bytes] | None
    depth_size: Callable[[], tuple[int, int]] | None
    load_depth: Loader | None


def _raw_exported(frame: ExportedFrame) -> _Raw:
    color, depth, pose = frame.color, frame.depth, frame.pose
    return _Raw(
        frame.name,
        partial(read_matrix, pose) if pose else None,
        partial(stored_size, color) if color else None,
        frame.load_color if color else None,
        frame.encoded_color if color else None,
        partial(stored_size, depth) if depth else None,
        frame.load_depth if depth else None,
    )


def _raw_sens(frame: SensFrame) -> _Raw:
    has_color, has_depth = frame.color_bytes > 0, frame.depth_bytes > 0
    has_depth = has_depth and frame.header.depth_compression != "occi_ushort"
    encoded = partial(_encoded, frame) if frame.header.color_compression == "raw" else frame.encoded_color
    return _Raw(
        str(frame.number),
        lambda: frame.scan_from_camera,
        frame.color_size if has_color else None,
        frame.color if has_color else None,
        encoded if has_color else None,
        frame.depth_size if has_depth else None,
        frame.depth if has_depth else None,
    )


def _encoded(frame: SensFrame) -> bytes:
    """A raw colour payload as a PNG file, for those who want a file."""
    return encode_color(frame.color(), "PNG")


def _open_sens(path: Path, problems: list[Problem]) -> SensFile | None:
    """The stream, with what is wrong with it as a whole; None where it cannot be used."""
    try:
        sens = SensFile.open(path)
    except InputError as error:
        problems.append(Problem("broken_sens", path.name, f"{error}; download it again"))
        return None
    if sens.header.depth_compression == "occi_ushort":
        problems.append(Problem("no_depth", path.name, "depth is compressed by occi, which is not read"))
    if sens.unread_bytes:
        detail = (
            f"{sens.unread_bytes} bytes follow its {sens.declared_frames} frames and are no IMU records: "
            "it may hold frames that its head does not count; download it again"
        )
        problems.append(Problem("unread_bytes", path.name, detail))
    if 0 < sens.missing_frames <= SETTINGS.max_counted_frames:
        detail = f"cut short: not whole in {path.name}; download it again"
        problems += [Problem("cut_short", str(n), detail) for n in range(len(sens), sens.declared_frames)]
    elif sens.missing_frames:
        problems.append(
            Problem(
                "cut_short", path.name, f"holds {len(sens)} frames, and says {sens.declared_frames}; download it again"
            )
        )
    return sens


def _views(raws: list[_Raw], cameras: Cameras, world_from_scan: Transform, problems: list[Problem]) -> dict[str, View]:
    color_camera = _usable(cameras.color, "color", [raw.color_size for raw in raws], problems) if raws else None
    if color_camera is None:
        return {}
    has_depth = any(raw.load_depth for raw in raws)
    depth_sizes = [raw.depth_size for raw in raws]
    depth_camera = _usable(cameras.depth, "depth", depth_sizes, problems) if has_depth else None
    views: dict[str, View] = {}
    resized: dict[tuple[int, int], int] = {}
    for raw in raws:
        if not is_name(raw.name):
            problems.append(Problem("broken_photo", ascii(raw.name), "a file name that cannot be written; left out"))
            continue
        if raw.scan_from_camera is None:
            problems.append(Problem("missing_pose", raw.name, "a photo without a pose; left out"))
            continue
        try:
            scan_from_camera = Transform.from_matrix(raw.scan_from_camera(), target="scan", source="camera")
        except SpacecastError as error:
            problems.append(Problem("lost_pose", raw.name, f"{error}; left out"))
            continue
        far = why_not_near(scan_from_camera)
        if far is not None:
            problems.append(Problem("lost_pose", raw.name, f"{far}; left out"))
            continue
        try:
            size = raw.color_size() if raw.color_size else color_camera.size
        except InputError as error:
            problems.append(Problem("broken_photo", raw.name, f"{error}; left out"))
            continue
        if size is None:
            problems.append(Problem("no_camera", raw.name, "the size of its picture is nowhere stated; left out"))
            continue
        intrinsics = color_camera.intrinsics(size)
        if intrinsics is None:
            detail = f"{size[0]} x {size[1]} px is another aspect than the camera's {color_camera.size}; left out"
            problems.append(Problem("photo_aspect", raw.name, detail))
            continue
        if raw.color_size is None:
            problems.append(Problem("missing_photo", raw.name, "a pose without a photo; the view has no picture"))
        elif size != color_camera.size:
            resized[size] = resized.get(size, 0) + 1
        load_depth, depth_intrinsics = None, None
        if depth_camera is not None:
            load_depth, depth_intrinsics = _depth(raw, depth_camera, cameras.depth_from_color, problems)
        views[raw.name] = View(
            name=raw.name,
            world_from_camera=world_from_scan @ scan_from_camera,
            intrinsics=intrinsics,
            load_color=raw.load_color,
            load_encoded=raw.load_encoded,
            load_depth=load_depth,
            depth_intrinsics=depth_intrinsics,
        )
    for (width, height), count in sorted(resized.items()):
        detail = f"{count} photos have this size, the camera {color_camera.size}; intrinsics are scaled"
        problems.append(Problem("resized_photos", f"{width} x {height} px", detail))
    return views


def _depth(
    raw: _Raw, camera: Camera, depth_from_color: Transform | None, problems: list[Problem]
) -> tuple[Loader | None, Intrinsics | None]:
    """How to load a frame's depth, and its intrinsics; both None, with a problem, where it has none."""
    if raw.depth_size is None or raw.load_depth is None:
        problems.append(Problem("missing_depth", raw.name, "no depth; the view has none"))
        return None, None
    try:
        size = raw.depth_size()
    except InputError as error:
        problems.append(Problem("broken_depth", raw.name, f"{error}; the view has no depth"))
        return None, None
    intrinsics = camera.intrinsics(size)
    if intrinsics is None:
        detail = f"{size[0]} x {size[1]} px is another aspect than the camera's {camera.size}; the view has no depth"
        problems.append(Problem("broken_depth", raw.name, detail))
        return None, None
    if depth_from_color is None:
        return raw.load_depth, intrinsics
    return partial(load_registered, raw.load_depth, intrinsics, depth_from_color), intrinsics


def load_registered(load: Loader, intrinsics: Intrinsics, depth_from_color: Transform) -> NDArray[np.float32]:
    """What a loader gives, registered; a partial of it is a loader that can be pickled."""
    return registered_depth(load(), intrinsics, depth_from_color)


def registered_depth(
    depth: NDArray[np.float32], intrinsics: Intrinsics, depth_from_color: Transform
) -> NDArray[np.float32]:
    """Depth as the colour camera would measure it, on the same pixel grid.

    Each pixel's point is carried into the colour camera and falls on its nearest pixel; of several the nearest point
    counts; pixels on which none falls are unknown.

    Args:
        depth: (h, w) float32 metres along the depth camera's z, 0 where unknown.
        intrinsics: of the depth picture, and of the result.
        depth_from_color: where the colour camera lies.

    Returns:
        (h, w) float32 metres along the colour camera's z, 0 where unknown.
    """
    height, width = depth.shape
    rows, columns = np.nonzero(depth > 0)
    distance = depth[rows, columns].astype(np.float64)
    points_in_depth = intrinsics.rays(np.stack([columns, rows], axis=1)) * distance[:, None]
    points_in_color = depth_from_color.inverse() @ points_in_depth
    points_in_color = points_in_color[points_in_color[:, 2] > 0]
    pixels = np.rint(intrinsics.project(points_in_color)).astype(np.int64)
    inside = ((pixels >= 0) & (pixels < (width, height))).all(axis=1)
    result = np.full(depth.shape, np.inf, dtype=np.float32)
    x, y = pixels[inside].T
    np.minimum.at(result, (y, x), points_in_color[inside, 2].astype(np.float32))
    result[np.isinf(result)] = 0.0
    return result


def _usable(
    camera: Camera | None,
    kind: str,
    sizes: list[Callable[[], tuple[int, int]] | None],
    problems: list[Problem],
) -> Camera | None:
    """The camera with a size: if none is stated, that of the first readable picture; None if it is of no use."""
    if camera is None:
        problems.append(Problem("no_camera", kind, f"no intrinsics of the {kind} camera; its pictures are left out"))
        return None
    for measure in sizes if camera.size is None else ():
        try:
            size = measure() if measure else None
        except InputError:  # told where the frame is read
            continue
        if size is not None:
            detail = f"the picture size is nowhere stated; taken as {size[0]} x {size[1]} px from the first picture"
            problems.append(Problem("no_camera", kind, detail))
            camera = replace(camera, size=size)
            break
    try:
        camera.intrinsics(camera.size or (1, 1))
    except FrameError as error:
        problems.append(Problem("no_camera", kind, f"{error}; its pictures are left out"))
        return None
    return camera


def _camera(values: Mapping[str, str], kind: str) -> Camera | None:
    try:
        fx, fy, cx, cy = (float(values[f"{name}_{kind}"]) for name in ("fx", "fy", "mx", "my"))
    except (KeyError, ValueError):
        return None
    return Camera(fx, fy, cx, cy, _stated_size(values, kind))


def _stated_size(values: Mapping[str, str], kind: str) -> tuple[int, int] | None:
    try:
        width, height = int(values[f"{kind}Width"]), int(values[f"{kind}Height"])
    except (KeyError, ValueError):
        return None
    return (width, height) if 0 < width <= PICTURES.max_side_px and 0 < height <= PICTURES.max_side_px else None


def _with_intrinsic_files(folder: Path, cameras: Cameras, problems: list[Problem]) -> tuple[Cameras, dict[str, Path]]:
    """Cameras that the ``.txt`` does not have, from the intrinsics beside the exported frames."""
    inputs: dict[str, Path] = {}
    for kind in ("color", "depth"):
        path = find_intrinsic(folder, kind) if getattr(cameras, kind) is None else None
        if path is None:
            continue
        inputs[path.relative_to(folder).as_posix()] = path
        try:
            matrix = read_matrix(path)
        except InputError as error:
            problems.append(Problem("no_camera", path.name, str(error)))
            continue
        camera = _camera_of(matrix, cameras.stated_sizes[kind])
        cameras = replace(cameras, color=camera) if kind == "color" else replace(cameras, depth=camera)
    return cameras, inputs


def _with_header(header: SensHeader, cameras: Cameras) -> Cameras:
    """Cameras as the stream states them; where it states none that is usable, as they are."""
    color = _camera_of(header.intrinsic_color, (header.color_width, header.color_height))
    depth = _camera_of(header.intrinsic_depth, (header.depth_width, header.depth_height))
    return replace(
        cameras,
        color=color if _is_camera(color) else cameras.color,
        depth=depth if _is_camera(depth) else cameras.depth,
    )


def _camera_of(matrix: NDArray[np.floating], size: tuple[int, int] | None) -> Camera:
    fx, fy, cx, cy = (float(matrix[at]) for at in ((0, 0), (1, 1), (0, 2), (1, 2)))
    return Camera(fx, fy, cx, cy, size)


def _is_camera(camera: Camera) -> bool:
    try:
        return camera.size is not None and min(camera.size) > 0 and camera.intrinsics(camera.size) is not None
    except FrameError:
        return False
