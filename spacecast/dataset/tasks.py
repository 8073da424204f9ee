"""What is done scene by scene: candidates first, then pictures of the questions that were chosen.

A task leaves one file that appears whole, with the key of everything that it was made from, so that an interrupted
build goes on with what still matches.
"""

from __future__ import annotations

import io
import json
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from spacecast.dataset.rows import plain
from spacecast.dataset.selection import Feature, rank_of
from spacecast.dataset.settings import BuildSettings, Folder, Sources, digest_of
from spacecast.dataset.types import Candidate, Draft, Language, QuestionType, Refusal, Suite
from spacecast.dataset.words import record_of, worded
from spacecast.errors import InputError, SpacecastError
from spacecast.files import sha256_of, write_whole
from spacecast.scan import Scan

EVERY_TYPE = "*"
"""In a refusal: not of one type, but of the scene's views or objects."""
MAP = ""
"""Name, in a scene's file of pictures, of its map from above."""
_META = b"spacecast"


@dataclass(frozen=True)
class TaskSettings:
    """Bounds of what one scene gives, and how pictures that have to be made are encoded (own)."""

    max_candidates: int = 600
    """Candidates kept of one type in one scene: fifty times what selection takes from it."""
    max_examples: int = 5
    """Examples kept of one (scene, type, stage, reason); FORMATS section 3."""
    jpeg_quality: int = 95
    """Of pictures that are rendered or undistorted; photos keep their bytes."""


SETTINGS = TaskSettings()


class SceneTask(NamedTuple):
    """One scene to find candidates in."""

    folder: Folder
    file: Path
    key: str
    settings: BuildSettings
    sources: Sources


class PictureTask(NamedTuple):
    """The pictures of one scene that are shown."""

    folder: Folder
    file: Path
    key: str
    settings: BuildSettings
    sources: Sources
    views: tuple[Mapping[str, Any], ...]
    """Entries of ``facts.views``, by name."""


class Refused(NamedTuple):
    """A row of ``rejections.parquet`` without its scene."""

    type_code: str
    stage: str
    reason: str
    times: int
    examples: tuple[str, ...]


class SceneWork(NamedTuple):
    """What the file of a scene's candidates says of the scene."""

    key: str
    """Of all that it was made from but the contents of ``inputs``."""
    inputs: dict[str, str]
    problems: dict[str, int]
    is_aligned: bool
    refused: tuple[Refused, ...]
    candidates: dict[str, int]
    """Type code -> how many were found, before any were left out for number."""


def find_candidates(task: SceneTask) -> str | None:
    """Write every candidate of a scene, unless the file is there and matches.

    Returns:
        None, or why the scene cannot be used, one line without paths.
    """
    try:
        if not _matches(task):
            _find(task)
    except Exception as error:
        return failure_of(task.folder, error)
    return None


def failure_of(folder: Folder, error: Exception) -> str:
    """One line about what stopped a scene, with no path of this machine in it."""
    text = " ".join(str(error).split())
    for path in (folder.path, folder.path.parent):
        for name in sorted({str(path), str(path.resolve())}, key=len, reverse=True):
            text = text.replace(f"{name}/", "").replace(name, folder.scene_id)
    if not isinstance(error, SpacecastError):  # a fault of ours: say where
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {text}"
    return f"{folder.key}: {text}"


def worker_died(task: SceneTask | PictureTask) -> str:
    """The failure of a scene during which the process ended, each time it was tried."""
    return f"{task.folder.key}: its process was killed each time, perhaps for want of memory; build with fewer workers"


def _matches(task: SceneTask) -> bool:
    if not task.file.is_file():
        return False
    try:
        said = _meta_of(task.file)
        found = {name: sha256_of(Path(path)) for name, path in said["input_paths"].items()}
    except (OSError, ValueError, KeyError, pa.ArrowInvalid):
        return False
    return bool(said["key"] == _key_of(task) and found == said["inputs"])


def _key_of(task: SceneTask) -> str:
    """Of settings, versions, and names and sizes of what lies in the folder; contents that were read are apart."""
    folder = task.folder.path
    listing = [
        [path.relative_to(folder).as_posix(), path.stat().st_size] for path in folder.rglob("*") if path.is_file()
    ]
    return digest_of([task.key, task.folder.key, sorted(listing)])


def _find(task: SceneTask) -> None:
    scan = task.sources.read(task.folder)
    if not scan.has_labels:
        raise InputError(f"{task.folder.scene_id}: has no labels (a test scene); only its geometry can be used")
    context = task.sources.context(scan, task.settings.pictures)
    suite = task.sources.suite(task.settings.suite)
    tally = _Tally()
    for refusal in (*getattr(context, "view_refusals", ()), *getattr(context, "object_refusals", ())):
        tally.add(EVERY_TYPE, refusal)
    kept: list[_Found] = []
    found: dict[str, int] = {}
    for kind in suite.types:
        candidates = []
        for outcome in _candidates(kind, suite, scan, context, task.settings):
            if isinstance(outcome, Refusal):
                tally.add(kind.code, outcome)
            else:
                candidates.append(outcome)
        found[kind.code] = len(candidates)
        kept += _thinned(candidates, kind, tally)
    _write(task, kept, scan, found, tally)


class _Found(NamedTuple):
    feature: Feature
    type_code: str
    record: str
    case: str


class _Tally:
    """Counts refusals, with the first examples of each."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._examples: dict[tuple[str, str, str], list[str]] = {}

    def add(self, type_code: str, refusal: Refusal) -> None:
        key = (type_code, refusal.stage, refusal.reason)
        self._counts[key] += 1
        examples = self._examples.setdefault(key, [])
        if len(examples) < SETTINGS.max_examples:
            examples.append(refusal.example)

    def rows(self) -> list[Refused]:
        return [Refused(*key, count, tuple(self._examples[key])) for key, count in sorted(self._counts.items())]


def _candidates(
    kind: QuestionType, suite: Suite, scan: Scan, context: Any, settings: BuildSettings
) -> Iterator[_Found | Refusal]:
    if kind.needs_north and not scan.is_aligned:
        yield Refusal("scene", "not_aligned", scan.scene_id)
        return
    language = _language(settings.language, suite)
    cases = set()
    for draft in kind.enumerate(context):
        if isinstance(draft, Refusal):
            yield draft
            continue
        if draft.case in cases:
            raise SpacecastError(f"type {kind.code} enumerates case {draft.case} twice; cases are unique in a scene")
        cases.add(draft.case)
        candidate = worded(
            draft,
            kind,
            suite,
            seed=settings.seed,
            dataset=scan.dataset,
            scene_id=scan.scene_id,
            language=language,
        )
        if isinstance(candidate, Refusal):
            yield candidate
        else:
            yield _Found(_feature(candidate, settings.seed), kind.code, record_of(candidate), draft.case)


def _language(language: Language, suite: Suite) -> Language:
    if language not in suite.languages:
        raise SpacecastError(f"suite {suite.name} is not worded in {language!r}; it is in {', '.join(suite.languages)}")
    return language


def _feature(candidate: Candidate, seed: int) -> Feature:
    draft: Draft = candidate.draft
    return Feature(
        uid=candidate.uid,
        scene=f"{candidate.dataset}-{candidate.scene_id}",
        likeness=draft.likeness,
        views=tuple(view.name for view in draft.views if view.role != "bridge"),
        balance=draft.balance,
        right=tuple(i for i, choice in enumerate(draft.choices) if choice.is_right),
        stated=tuple(sorted((str(key), str(value)) for key, value in draft.stated.items())),
        preference=draft.preference,
        rank=rank_of(seed, candidate.uid),
    )


def _thinned(found: list[_Found], kind: QuestionType, tally: _Tally) -> list[_Found]:
    """The most varied of a scene's candidates of one type: every answer and stated value in turn, unlike ones first."""
    alike: Counter[str] = Counter()
    strata: Counter[tuple[Any, ...]] = Counter()
    order: list[tuple[Any, _Found]] = []
    for entry in sorted(found, key=lambda entry: (entry.feature.preference, entry.feature.rank)):
        order.append(((alike[entry.feature.likeness], entry.feature.preference, entry.feature.rank), entry))
        alike[entry.feature.likeness] += 1
    order.sort(key=lambda pair: pair[0])
    turns = []
    for place, entry in order:
        stratum = (entry.feature.balance, entry.feature.stated)
        turns.append(((strata[stratum], *place), entry))
        strata[stratum] += 1
    turns.sort(key=lambda pair: pair[0])
    for _, entry in sorted(turns[SETTINGS.max_candidates :], key=lambda pair: pair[1].case):
        tally.add(kind.code, Refusal("selection", "more_than_enough", entry.case))
    return sorted((entry for _, entry in turns[: SETTINGS.max_candidates]), key=lambda entry: entry.feature.uid)


_FEATURES = pa.schema(
    [
        ("uid", pa.string()),
        ("type_code", pa.string()),
        ("scene", pa.string()),
        ("likeness", pa.string()),
        ("views", pa.list_(pa.string())),
        ("balance", pa.string()),
        ("right", pa.list_(pa.int64())),
        ("stated", pa.list_(pa.list_(pa.string()))),
        ("preference", pa.int64()),
        ("rank", pa.int64()),
        ("record", pa.string()),
    ]
)


def _write(task: SceneTask, kept: list[_Found], scan: Scan, found: dict[str, int], tally: _Tally) -> None:
    inputs = {name: path for name, path in sorted(scan.input_files.items())}
    said = {
        "key": _key_of(task),
        "inputs": {name: sha256_of(path) for name, path in inputs.items()},
        "input_paths": {name: str(path) for name, path in inputs.items()},
        "problems": scan.problem_counts(),
        "is_aligned": scan.is_aligned,
        "refused": [list(row) for row in tally.rows()],
        "candidates": found,
    }
    rows = [{**entry.feature._asdict(), "type_code": entry.type_code, "record": entry.record} for entry in kept]
    metadata = {_META: json.dumps(plain(said), sort_keys=True).encode()}
    table = pa.Table.from_pylist(rows, schema=_FEATURES.with_metadata(metadata))
    with write_whole(task.file) as aside:
        pq.write_table(table, aside, compression="zstd")


def _meta_of(file: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(pq.read_schema(file).metadata[_META])
    return said


def work_of(file: Path) -> SceneWork:
    """What a file of candidates says of its scene."""
    said = _meta_of(file)
    refused = tuple(
        Refused(code, stage, reason, times, tuple(examples)) for code, stage, reason, times, examples in said["refused"]
    )
    return SceneWork(said["key"], said["inputs"], said["problems"], said["is_aligned"], refused, said["candidates"])


def features_of(file: Path, type_code: str) -> list[Feature]:
    """What selection needs of a scene's candidates of one type."""
    table = pq.read_table(file, columns=list(Feature._fields), filters=[("type_code", "==", type_code)])
    found = []
    for record in table.to_pylist():
        for name in ("views", "right"):
            record[name] = tuple(record[name])
        record["stated"] = tuple((key, value) for key, value in record["stated"])
        found.append(Feature(**record))
    return found


def records_of(file: Path, uids: set[str]) -> dict[str, str]:
    """The records (see ``words.candidate_from``) of some of a scene's candidates, by uid."""
    table = pq.read_table(file, columns=["uid", "record"], filters=[("uid", "in", sorted(uids))])
    return dict(zip(table["uid"].to_pylist(), table["record"].to_pylist(), strict=True))


def make_pictures(task: PictureTask) -> str | None:
    """Write the encoded pictures of a scene that are shown, unless the file is there and matches.

    Returns:
        None, or why they cannot be made, one line without paths.
    """
    try:
        if not (task.file.is_file() and _meta_of(task.file).get("key") == task.key):
            _write_pictures(task)
    except Exception as error:
        return failure_of(task.folder, error)
    return None


def _write_pictures(task: PictureTask) -> None:
    scan = task.sources.read(task.folder)
    paint = task.sources.painter(scan) if task.settings.pictures == "render" else None
    names, pictures = [], []
    for view in task.views:
        names.append(str(view["name"]))
        pictures.append(_encoded_photo(scan, view) if paint is None else _encoded(paint(view)))
        size = Image.open(io.BytesIO(pictures[-1])).size
        if size != (view["width"], view["height"]):
            raise InputError(
                f"{scan.scene_id}: the picture of view {view['name']} is {size[0]}x{size[1]}, "
                f"not {view['width']}x{view['height']} as its camera says"
            )
    if task.settings.evidence:
        names.append(MAP)
        pictures.append(_png(task.sources.mapper(scan)))
    schema = pa.schema([("name", pa.string()), ("encoded", pa.binary())])
    metadata = {_META: json.dumps({"key": task.key}).encode()}
    table = pa.Table.from_pydict({"name": names, "encoded": pictures}, schema=schema.with_metadata(metadata))
    with write_whole(task.file) as aside:
        pq.write_table(table, aside, compression="none", row_group_size=1)


def _encoded_photo(scan: Scan, view: Mapping[str, Any]) -> bytes:
    source = scan.views[view["name"]]
    if source.load_encoded is not None:
        return source.load_encoded()
    if source.load_color is None:
        raise InputError(f"{scan.scene_id}: view {view['name']} has no photo; build with --pictures render")
    return _encoded(source.load_color())


def _encoded(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="JPEG", quality=SETTINGS.jpeg_quality, subsampling=0)
    return buffer.getvalue()


def _png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="PNG")
    return buffer.getvalue()


def pictures_of(file: Path) -> dict[str, bytes]:
    """The encoded pictures of a scene, by view name."""
    table = pq.read_table(file)
    return dict(zip(table["name"].to_pylist(), table["encoded"].to_pylist(), strict=True))
