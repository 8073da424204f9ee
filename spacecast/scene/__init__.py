"""Scenes: values that never change."""

from spacecast.scene.feasibility import Clearance, Hindrance
from spacecast.scene.interventions import Intervention, Move, Orbit, Remove, RotateLayout, Sequence, Spin
from spacecast.scene.objects import SceneObject, Shape, Support
from spacecast.scene.rooms import Room
from spacecast.scene.scene import LabelledBox, RestMesh, Scene

__all__ = [
    "Clearance",
    "Hindrance",
    "Intervention",
    "LabelledBox",
    "Move",
    "Orbit",
    "Remove",
    "RestMesh",
    "Room",
    "RotateLayout",
    "Scene",
    "SceneObject",
    "Sequence",
    "Shape",
    "Spin",
    "Support",
]
