"""What is done scene by scene: candidates first, then pictures of the questions that were chosen.

A task leaves one file that appears whole, with the key of everything that it was made from, so that an interrupted
build goes on with what still matches.
"""

from __future__ import annotations

import io
import json
import re
import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, UnidentifiedImageError

from spacecast.dataset.balance import Feature
from spacecast.dataset.chance import number
from spacecast.dataset.evidence import SURVEY_PARTS
from spacecast.dataset.named import labels_of, sizes_of
from spacecast.dataset.rows import plain, relation_unchanged
from spacecast.dataset.selection import rank_of
from spacecast.dataset.settings import BuildSettings, Folder, Painter, Sources, digest_of
from spacecast.dataset.thinning import in_turns
from spacecast.dataset.twins import relation_key
from spacecast.dataset.types import UNNAMED_ROLES, Candidate, Draft, Language, QuestionType, Refusal, Suite
from spacecast.dataset.words import record_of, worded
from spacecast.errors import InputError, SpacecastError
from spacecast.files import sha256_of, write_whole
from spacecast.scan import Scan

EVERY_TYPE = "*"
"""In a refusal: not of one type, but of the scene's views or objects."""
_META = b"spacecast"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""In the names of Python's objects: another one each time."""


@dataclass(frozen=True)
class TaskSettings:
    """Bounds of what one scene gives, and how pictures that have to be made are encoded (own)."""

    max_candidates: int = 240
    """Candidates kept of one type in one scene: twenty times what selection takes from it."""
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
    """The pictures of one scene that are shown, or may be."""

    folder: Folder
    file: Path
    key: str
    settings: BuildSettings
    sources: Sources
    views: tuple[Mapping[str, Any], ...]
    """Entries of ``facts.views``, by name."""
    keep_failures: bool = False
    """Write down which pictures cannot be made: perhaps they are not shown. Otherwise one is the scene's failure."""


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
    views: dict[str, dict[str, Any]]
    """Every view that a candidate shows: name -> its entry of ``facts.views``, without its role."""


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
    text = _ADDRESS.sub("", text)
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
    kept: dict[str, list[_Found]] = {}
    found: dict[str, int] = {}
    for kind in suite.types:
        drafts = _drafts(kind, suite, scan, context, tally)
        kept[kind.code], refused = _worded(drafts, kind, suite, scan, task.settings)
        found[kind.code] = len(drafts) - sum(refusal.stage != "selection" for refusal in refused)
        for refusal in refused:
            tally.add(kind.code, refusal)
    _write(task, kept, scan, found, tally)


class _Found(NamedTuple):
    feature: Feature
    record: str
    views: dict[str, dict[str, Any]]


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


def _drafts(kind: QuestionType, suite: Suite, scan: Scan, context: Any, tally: _Tally) -> list[Draft]:
    """All that a type enumerates in a scene.

    Raises:
        SpacecastError: the type is at fault: a case is there twice, or it says of an answer that it is unchanged and
            the facts do not, or offers such where there may be none.
    """
    if kind.needs_north and not scan.is_aligned:
        tally.add(kind.code, Refusal("scene", "not_aligned", scan.scene_id))
        return []
    limit = suite.unchanged_share(kind.code)
    drafts: dict[str, Draft] = {}
    for draft in kind.enumerate(context):
        if isinstance(draft, Refusal):
            tally.add(kind.code, draft)
            continue
        if draft.case in drafts:
            raise SpacecastError(f"type {kind.code} enumerates case {draft.case} twice; cases are unique in a scene")
        said = relation_unchanged(draft.facts)
        if draft.unchanged is not said:
            raise SpacecastError(
                f"type {kind.code} says that case {draft.case} is unchanged: {draft.unchanged}; its facts say {said}"
            )
        if said and limit == 0.0:
            raise SpacecastError(
                f"type {kind.code} enumerates case {draft.case}, whose answer the change leaves as it was"
            )
        drafts[draft.case] = draft
    return list(drafts.values())


def _worded(
    drafts: Sequence[Draft], kind: QuestionType, suite: Suite, scan: Scan, settings: BuildSettings
) -> tuple[list[_Found], list[Refusal]]:
    """The most varied candidates, which selection is to see, by uid; and what could not be worded or was too much."""
    language = _language(settings.language, suite)
    key = (settings.seed, scan.dataset, scan.scene_id, kind.code, kind.version)
    kept: list[_Found] = []
    refused: list[Refusal] = []
    left_out = []
    for draft in in_turns(drafts, lambda case: number(*key, case, "thinning")):
        if len(kept) == SETTINGS.max_candidates:
            left_out.append(draft.case)
            continue
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
            refused.append(candidate)
        else:
            feature = _feature(candidate, kind, scan, settings.seed)
            kept.append(_Found(feature, record_of(candidate), views_of(draft)))
    too_many = [Refusal("selection", "more_than_enough", case) for case in sorted(left_out)]
    return sorted(kept, key=lambda entry: entry.feature.uid), [*refused, *too_many]


def views_of(draft: Draft) -> dict[str, dict[str, Any]]:
    """The views that a draft shows: name -> its entry of ``facts.views``, without its role."""
    return {view["name"]: {name: view[name] for name in view if name != "role"} for view in draft.facts["views"]}


def _language(language: Language, suite: Suite) -> Language:
    if language not in suite.languages:
        raise SpacecastError(f"suite {suite.name} is not worded in {language!r}; it is in {', '.join(suite.languages)}")
    return language


def _feature(candidate: Candidate, kind: QuestionType, scan: Scan, seed: int) -> Feature:
    draft: Draft = candidate.draft
    change = draft.facts.get("intervention") or {}
    together = change.get("moved", change.get("removed"))
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
        options="" if kind.multi_select else "\x1f".join(sorted(choice.value for choice in draft.choices)),
        relative=draft.relative or "",
        unchanged=bool(draft.unchanged),
        follows="" if together is None else str(len(together) - 1),
        names=labels_of(draft.facts),
        sizes=sizes_of(draft.facts),
        relation=relation_key(candidate.dataset, candidate.scene_id, draft.facts),
        images=len(draft.views),
        objects=tuple(sorted(item["id"] for item in draft.facts["objects"] if set(item["roles"]) - UNNAMED_ROLES)),
        room=f"{scan.dataset}-{scan.room_id}",
        dataset=scan.dataset,
    )


_NESTED = ("views", "right", "stated", "names", "sizes", "objects")
"""Fields of a feature that are lists; in a file they are JSON, which is read many times faster than nested columns."""
_FEATURES = pa.schema(
    [
        ("uid", pa.string()),
        ("scene", pa.string()),
        ("likeness", pa.string()),
        ("views", pa.string()),
        ("balance", pa.string()),
        ("right", pa.string()),
        ("stated", pa.string()),
        ("preference", pa.int64()),
        ("rank", pa.int64()),
        ("options", pa.string()),
        ("relative", pa.string()),
        ("unchanged", pa.bool_()),
        ("follows", pa.string()),
        ("names", pa.string()),
        ("sizes", pa.string()),
        ("relation", pa.string()),
        ("images", pa.int64()),
        ("objects", pa.string()),
        ("room", pa.string()),
        ("dataset", pa.string()),
        ("record", pa.string()),
    ]
)


def _write(
    task: SceneTask, kept: Mapping[str, Sequence[_Found]], scan: Scan, found: Mapping[str, int], tally: _Tally
) -> None:
    inputs = {name: path for name, path in sorted(scan.input_files.items())}
    said = {
        "key": _key_of(task),
        "inputs": {name: sha256_of(path) for name, path in inputs.items()},
        "input_paths": {name: str(path) for name, path in inputs.items()},
        "problems": scan.problem_counts(),
        "is_aligned": scan.is_aligned,
        "refused": [list(row) for row in tally.rows()],
        "candidates": found,
        "views": {name: view for entries in kept.values() for entry in entries for name, view in entry.views.items()},
        "types": list(kept),
    }
    metadata = {_META: json.dumps(plain(said), sort_keys=True).encode()}
    schema = _FEATURES.with_metadata(metadata)
    with write_whole(task.file) as aside, pq.ParquetWriter(aside, schema, compression="zstd") as writer:
        for entries in kept.values():  # a row group each, so that one type is read alone
            rows = [{**entry.feature._asdict(), "record": entry.record} for entry in entries]
            for row in rows:
                row.update({name: json.dumps(row[name]) for name in _NESTED})
            writer.write_table(pa.Table.from_pylist(rows, schema=schema), row_group_size=max(1, len(rows)))


def _meta_of(file: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(pq.read_schema(file).metadata[_META])
    return said


def work_of(file: Path) -> SceneWork:
    """What a file of candidates says of its scene."""
    said = _meta_of(file)
    refused = tuple(
        Refused(code, stage, reason, times, tuple(examples)) for code, stage, reason, times, examples in said["refused"]
    )
    return SceneWork(
        key=said["key"],
        inputs=said["inputs"],
        problems=said["problems"],
        is_aligned=said["is_aligned"],
        refused=refused,
        candidates=said["candidates"],
        views=said["views"],
    )


def features_of(file: Path, type_code: str) -> list[Feature]:
    """What selection needs of a scene's candidates of one type."""
    with pq.ParquetFile(file) as source:
        types = json.loads(source.schema_arrow.metadata[_META])["types"]
        columns = source.read_row_group(types.index(type_code), columns=list(Feature._fields)).to_pydict()
    for name in _NESTED:
        parsed = {text: _tuple_of(json.loads(text)) for text in set(columns[name])}
        columns[name] = [parsed[text] for text in columns[name]]
    return [Feature(*values) for values in zip(*(columns[name] for name in Feature._fields), strict=True)]


def _tuple_of(value: Any) -> Any:
    return tuple(map(_tuple_of, value)) if isinstance(value, list) else value


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
    encoded: dict[str, bytes] = {}
    failures: dict[str, str] = {}

    @contextmanager
    def kept_for(names: Iterable[str]) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not task.keep_failures:
                raise
            failures.update(dict.fromkeys(names, failure_of(task.folder, error)))

    views = {str(view["name"]): view for view in task.views}
    parts = SURVEY_PARTS if task.settings.evidence else ()
    with kept_for([*views, *parts]):
        scan = task.sources.read(task.folder)
        paint = task.sources.painter(scan) if task.settings.pictures == "render" else None
        for name, view in views.items():
            with kept_for([name]):
                encoded[name] = _picture(scan, view, paint)
        if parts:
            with kept_for(parts):
                encoded.update(task.sources.surveyor(scan).parts())
    columns = {"name": list(encoded), "encoded": list(encoded.values())}
    schema = pa.schema([("name", pa.string()), ("encoded", pa.binary())])
    metadata = {_META: json.dumps({"key": task.key, "failures": failures}, sort_keys=True).encode()}
    table = pa.Table.from_pydict(columns, schema=schema.with_metadata(metadata))
    with write_whole(task.file) as aside:
        pq.write_table(table, aside, compression="none", row_group_size=1)


def _picture(scan: Scan, view: Mapping[str, Any], paint: Painter | None) -> bytes:
    encoded = _encoded_photo(scan, view) if paint is None else _encoded(paint(view))
    try:
        size = Image.open(io.BytesIO(encoded)).size
    except UnidentifiedImageError as error:
        raise InputError(f"{scan.scene_id}: the photo of view {view['name']} is no picture; copy it again") from error
    if size != (view["width"], view["height"]):
        raise InputError(
            f"{scan.scene_id}: the picture of view {view['name']} is {size[0]}x{size[1]}, "
            f"not {view['width']}x{view['height']} as its camera says"
        )
    return encoded


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


def pictures_of(file: Path, names: Collection[str]) -> dict[str, bytes]:
    """Some of the encoded pictures of a scene, by view name; where evidence is made, the parts of its survey too."""
    with pq.ParquetFile(file) as source:  # a row group each: only what is asked for is read
        places = {name: i for i, name in enumerate(source.read(columns=["name"])["name"].to_pylist())}
        return {name: source.read_row_group(places[name])["encoded"][0].as_py() for name in sorted(names)}


def picture_failure(file: Path, names: Iterable[str]) -> str | None:
    """Why one of some pictures could not be made: the first, in the order given."""
    failures = _meta_of(file)["failures"]
    return next((failures[name] for name in names if name in failures), None)
