"""Scenes: values that never change."""

from spacecast.scene.objects import SceneObject, Shape, Support
from spacecast.scene.rooms import Room
from spacecast.scene.scene import LabelledBox, RestMesh, Scene

__all__ = ["LabelledBox", "RestMesh", "Room", "Scene", "SceneObject", "Shape", "Support"]
