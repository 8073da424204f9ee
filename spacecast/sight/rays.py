"""The one home of open3d: triangles in, nearest hits out.

Ray directions are not normalised here: with directions of z = 1 in the camera frame, the hit parameter is depth.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacecast.errors import SpacecastError

NO_FACE = -1


class Hits(NamedTuple):
    """Nearest hits of rays (...,).

    ``t`` float32 in lengths of the ray's direction, inf where nothing is hit; ``face`` int32 number of the face, -1
    where nothing is hit; ``uv`` (..., 2) float32 weights of the face's second and third corner at the hit.
    """

    t: NDArray[np.float32]
    face: NDArray[np.int32]
    uv: NDArray[np.float32]


@cache
def require_open3d() -> Any:
    """The open3d module, loaded when first needed.

    Raises:
        SpacecastError: a system library is missing; the message is the line to run.
    """
    try:
        import ctypes

        import libusb_package  # brings the library where the system has none

        ctypes.CDLL(str(libusb_package.get_library_path()), mode=ctypes.RTLD_GLOBAL)
    except (ImportError, OSError):
        pass  # the system's own library serves
    try:
        import open3d
    except (ImportError, OSError) as error:
        raise SpacecastError(
            f"open3d cannot be loaded: {error}; on Debian or Ubuntu run: "
            "apt-get install -y libusb-1.0-0 libegl1 libgl1 libx11-6 libudev1 libidn2-0 libgomp1"
        ) from error
    return open3d


@dataclass(frozen=True)
class RaySettings:
    """How many hierarchies may live at once in one process."""

    max_hierarchies: int = 512
    """Each takes one of the 1024 thread-specific keys of a process, and open3d 0.20 ends in a segmentation fault when
    none is left (own; measured: after 1014). Of more, those not cast for longest are dropped, and built anew."""


SETTINGS = RaySettings()

_BUILT: OrderedDict[int, weakref.ref[RayScene]] = OrderedDict()
"""Scenes whose hierarchy is there, by id, the one cast last at the end."""


class RayScene:
    """A bounding volume hierarchy over one mesh, built by the first cast. Not picklable: build it in the worker."""

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        """Takes (V, 3) metres and (F, 3) vertex numbers; a mesh without faces is never hit."""
        self.vertices = np.ascontiguousarray(vertices, dtype=np.float32).reshape(-1, 3)
        self.faces = np.ascontiguousarray(faces, dtype=np.int32).reshape(-1, 3)
        self._hierarchy: Any = None

    @property
    def face_count(self) -> int:
        """How many triangles."""
        return len(self.faces)

    def cast(self, origins: ArrayLike, directions: ArrayLike, *, threads: int = 0) -> Hits:
        """Nearest hits of rays from (..., 3) origins along (..., 3) directions (broadcast together).

        Args:
            origins: in the mesh's frame.
            directions: not normalised; t counts in their length.
            threads: 0 for all cores, 1 in build workers.
        """
        start, along = np.broadcast_arrays(np.asarray(origins, np.float32), np.asarray(directions, np.float32))
        return self.cast_rays(np.concatenate([start, along], axis=-1), threads=threads)

    def cast_rays(self, rays: NDArray[np.float32], *, threads: int = 0) -> Hits:
        """Nearest hits of rays (..., 6) float32, C-ordered: origin and direction side by side. Nothing is copied."""
        shape = rays.shape[:-1]
        if not self.face_count or not rays.size:
            return Hits(
                np.full(shape, np.inf, np.float32), np.full(shape, NO_FACE, np.int32), np.zeros((*shape, 2), np.float32)
            )
        if self._hierarchy is None:
            self._make_room()
            self._hierarchy = self._build(threads)
        _BUILT.move_to_end(id(self))
        found = self._hierarchy.cast_rays(require_open3d().core.Tensor.from_numpy(rays), nthreads=threads)
        # Copies: open3d lists memory of its own that is still in use when a process ends, line after line, as lost.
        # It numbers faces as uint32 and says 2^32 - 1 for none: read as int32 that is -1.
        t, face, uv = (found[name].numpy().copy() for name in ("t_hit", "primitive_ids", "primitive_uvs"))
        return Hits(t, face.view(np.int32), uv)

    def _make_room(self) -> None:
        key, forget = id(self), _BUILT.pop
        _BUILT[key] = weakref.ref(self, lambda _: forget(key, None))
        while len(_BUILT) > SETTINGS.max_hierarchies:
            oldest = _BUILT.popitem(last=False)[1]()
            if oldest is not None:
                oldest._hierarchy = None

    def _build(self, threads: int) -> Any:
        o3d = require_open3d()
        hierarchy = o3d.t.geometry.RaycastingScene(nthreads=threads)
        hierarchy.add_triangles(o3d.core.Tensor(self.vertices), o3d.core.Tensor(self.faces.view(np.uint32)))
        return hierarchy
