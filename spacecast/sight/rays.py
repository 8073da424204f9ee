"""The one home of open3d: triangles in, nearest hits out.

Ray directions are not normalised here: with directions of z = 1 in the camera frame, the hit parameter is depth.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spacecast.errors import SpacecastError

NO_FACE = -1


class Hits(NamedTuple):
    """Nearest hits of rays (...,): ``t`` float32 in units of the ray's direction, inf where nothing is hit; ``face``
    int32 number of the face, -1 where nothing is hit."""

    t: NDArray[np.float32]
    face: NDArray[np.int32]


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


class RayScene:
    """A bounding volume hierarchy over one mesh. Not picklable: build it in the worker."""

    def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None:
        """Takes (V, 3) metres and (F, 3) vertex numbers; a mesh without faces is never hit."""
        o3d = require_open3d()
        self._o3d = o3d
        points = np.ascontiguousarray(vertices, dtype=np.float32).reshape(-1, 3)
        triangles = np.ascontiguousarray(faces, dtype=np.uint32).reshape(-1, 3)
        self.face_count = len(triangles)
        self._scene = o3d.t.geometry.RaycastingScene(nthreads=0)
        if self.face_count:
            self._scene.add_triangles(o3d.core.Tensor(points), o3d.core.Tensor(triangles))

    def cast(self, origins: ArrayLike, directions: ArrayLike, *, threads: int = 0) -> Hits:
        """Nearest hits of rays from (..., 3) origins along (..., 3) directions (broadcast together).

        Args:
            origins: in the mesh's frame.
            directions: not normalised; t counts in their length.
            threads: 0 for all cores, 1 in build workers.
        """
        start, along = np.broadcast_arrays(np.asarray(origins, np.float32), np.asarray(directions, np.float32))
        shape = along.shape[:-1]
        if not self.face_count or not along.size:
            return Hits(np.full(shape, np.inf, np.float32), np.full(shape, NO_FACE, np.int32))
        rays = np.concatenate([start, along], axis=-1).reshape(-1, 6)
        found = self._scene.cast_rays(self._o3d.core.Tensor(rays), nthreads=threads)
        face = found["primitive_ids"].numpy().astype(np.int64)
        t = found["t_hit"].numpy()
        face[~np.isfinite(t)] = NO_FACE
        return Hits(t.reshape(shape), face.astype(np.int32).reshape(shape))
