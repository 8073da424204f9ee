"""Ray casting: id and depth images, silhouettes, occlusion, pictures, maps."""

from spacecast.sight.cameras import Camera, Window, camera_of
from spacecast.sight.look import Look, Masks, Visibility
from spacecast.sight.maps import MapFrame, MarkedBox, MarkedCamera, map_frame, map_picture, marked_map
from spacecast.sight.pictures import SceneColors, picture
from spacecast.sight.rays import RayScene, require_open3d
from spacecast.sight.sight import MASK_WIDTH_PX, NO_HIT, NO_OBJECT, IdImage, Sight, sight_of

__all__ = [
    "MASK_WIDTH_PX",
    "NO_HIT",
    "NO_OBJECT",
    "Camera",
    "IdImage",
    "Look",
    "MapFrame",
    "MarkedBox",
    "MarkedCamera",
    "Masks",
    "RayScene",
    "SceneColors",
    "Sight",
    "Visibility",
    "Window",
    "camera_of",
    "map_frame",
    "map_picture",
    "marked_map",
    "picture",
    "require_open3d",
    "sight_of",
]
