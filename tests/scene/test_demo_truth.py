"""Attachment and boxes of a few demo scans against what their generator knows; twenty scans are a benchmark's work."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from scannet_tools.scannet import READER
from spacecast.scene import Scene

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "attachment_truth.py"


@pytest.fixture(scope="module")
def truth() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attachment_truth", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["attachment_truth"] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


def test_certain_edges_and_boxes_of_demo_scans(demo_root: Path, truth: ModuleType) -> None:
    total = truth.Comparison()
    for folder in READER.find(demo_root).values():
        truth.compare(Scene.from_scan(READER.read(folder)), json.loads((folder / "truth.json").read_text()), total)
    assert total.right >= 10
    assert total.wrong == []
    assert total.recall >= 0.95, total.missed
    assert total.off_box == []


def test_a_wrong_truth_is_noticed(demo_root: Path, truth: ModuleType) -> None:
    folder = next(iter(READER.find(demo_root).values()))
    known = json.loads((folder / "truth.json").read_text())
    scene = Scene.from_scan(READER.read(folder))
    edge = known["attachment"].pop()
    known["attachment"].append({"parent": edge["child"], "child": edge["parent"], "kind": edge["kind"]})
    row = next(row for row in known["objects"] if row["id"] == edge["child"])
    row["min"][2] -= 0.05
    total = truth.Comparison()
    truth.compare(scene, known, total)
    assert len(total.wrong) == len(total.missed) == len(total.off_box) == 1
    assert not total.is_good
