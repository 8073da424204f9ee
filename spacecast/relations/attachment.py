"""What moves when something moves."""

from __future__ import annotations

from spacecast.relations.answer import Answer
from spacecast.scene import Scene


def attachment(scene: Scene, mover: int | str) -> Answer:
    """The objects that move along when one is moved: its whole subtree along certain edges.

    Args:
        scene: the state that is asked about.
        mover: id, or a label that only one object has.

    Returns:
        ``value``: sorted tuple of ids, without the mover; empty where it carries nothing. ``numbers``: ``count`` of
        these; ``direct``, how many the mover carries itself; ``chain``, links on the longest way down (0 where it
        carries nothing); ``carrier``, id of what carries the mover, or None; ``possible``, ids outside that a possible
        edge joins to what moves. ``reasons``: ``possible_attachment`` where there is such an id (SEMANTICS 4.4);
        ``structure`` for a part of the building, which does not move: then there is no value.

    Raises:
        UnknownObjectError: no object has this id or label, or several have the label.
    """
    root = scene.resolve(mover)
    if scene.objects[root].is_structure:
        return Answer(None, reasons=("structure",))
    carried = scene.carried_by(root)
    links = {i: _links(scene, i, root) for i in carried}
    possible = scene.possible_neighbours((root, *carried))
    return Answer(
        carried,
        numbers={
            "count": len(carried),
            "direct": sum(1 for i in carried if links[i] == 1),
            "chain": max(links.values(), default=0),
            "carrier": scene.carrier_of(root),
            "possible": possible,
        },
        reasons=("possible_attachment",) if possible else (),
    )


def _links(scene: Scene, carried: int, root: int) -> int:
    """Links from an object up to the root that carries it."""
    count, at = 0, carried
    while at != root:
        carrier = scene.carrier_of(at)
        if carrier is None:
            raise ValueError(f"object {carried} is not carried by {root}")
        count, at = count + 1, carrier
    return count
