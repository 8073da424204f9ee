"""What names tell: labels by role, and sizes in steps."""

from __future__ import annotations

from typing import Any

from spacecast.dataset.named import labels_of, sizes_of


def facts(kind: str, **sides: tuple[list[str], tuple[float, float, float]]) -> dict[str, Any]:
    objects = [{"label": label, "roles": roles, "obb": {"size": size}} for label, (roles, size) in sides.items()]
    return {"relation": {"kind": kind}, "objects": objects}


BED, CUP = (2.0, 2.0, 0.5), (0.1, 0.1, 0.1)


def test_labels_are_of_what_the_text_asks_about() -> None:
    told = facts(
        "occlusion", bed=(["removed", "remover"], BED), cup=(["removed", "target"], CUP), rug=(["carried"], BED)
    )
    assert labels_of(told) == (("remover", "bed"), ("target", "cup"))
    offered = facts("attachment", bed=(["carrier", "target"], BED), cup=(["carried", "option"], CUP))
    assert labels_of(offered) == (("target", "bed"),)


def test_sizes_are_half_decades_of_volumes_and_of_their_ratio() -> None:
    told = facts("occlusion", bed=(["removed", "remover"], BED), cup=(["removed", "target"], CUP))
    # 2 m3 is 10^0.30, 0.001 m3 10^-3, and the bed is 10^3.30 times the cup.
    assert sizes_of(told) == (("size of remover", "0"), ("size of target", "-6"), ("size of remover/target", "6"))


def test_what_is_flat_has_a_size() -> None:
    told = facts("pairwise_occlusion", bed=(["query"], BED), poster=(["reference"], (1.0, 0.0, 1.0)))
    assert dict(sizes_of(told))["size of reference"] == "-12"


def test_sizes_tell_nothing_of_a_direction() -> None:
    assert sizes_of(facts("direction", bed=(["target"], BED))) == ()
