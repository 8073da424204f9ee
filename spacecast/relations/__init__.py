"""Relations between the objects of a scene: pure functions of a scene and ids, each answer with its margins.

``direction`` and the others are functions here, though the modules that hold them have the same names. All modules are
imported at once, so that no later import puts a module in a function's place.
"""

from spacecast.relations.answer import Answer
from spacecast.relations.attachment import attachment
from spacecast.relations.direction import direction
from spacecast.relations.distance import distance
from spacecast.relations.occlusion import occlusion, pairwise_occlusion

__all__ = ["Answer", "attachment", "direction", "distance", "occlusion", "pairwise_occlusion"]
