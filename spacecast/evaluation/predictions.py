"""A model's predictions: JSONL, one object a line, read against the questions that they answer. FORMATS section 3."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spacecast.dataset.rows import Row
from spacecast.errors import InputError
from spacecast.evaluation.replies import Reading, read_prediction, read_reply
from spacecast.files import write_whole

Status = Literal["answered", "missing", "invalid", "error"]


class Response(NamedTuple):
    """What a model gave for one question.

    ``status`` is ``answered`` where letters were read, ``missing`` where no line has the uid, ``invalid`` where the
    reply holds no answer (``problem`` says why), ``error`` where the model failed.
    """

    letters: tuple[str, ...]
    status: Status
    problem: str | None


def read_predictions(path: Path, rows: Mapping[str, Row]) -> dict[str, Response]:
    """Responses by ``question_uid``, for every row; a row that no line answers is ``missing``.

    Raises:
        InputError: the file cannot be read, a line is no JSON object or has no uid, a uid is unknown or there twice.
    """
    found: dict[str, Response] = {}
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                record = _record(line, f"{path}:{number}")
                uid = record["question_uid"]
                if uid in found:
                    raise InputError(f"{path}:{number}: question {uid} is answered twice; keep one line")
                if uid not in rows:
                    raise InputError(
                        f"{path}:{number}: question {uid} is not in the benchmark; score against the one that was asked"
                    )
                found[uid] = _response(record, rows[uid])
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; give a file of JSON lines with predictions") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; give a file of JSON lines") from error
    return {uid: found.get(uid, Response((), "missing", None)) for uid in rows}


def write_predictions(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write predictions, one JSON object a line; the file appears whole."""
    with write_whole(path) as aside, aside.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n")


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON; predictions are one JSON object a line") from error
    if not isinstance(record, dict) or not isinstance(record.get("question_uid"), str):
        raise InputError(f"{place}: no question_uid; a prediction is an object with question_uid and prediction")
    return record


def _response(record: Mapping[str, Any], row: Row) -> Response:
    if record.get("status") == "error":
        kind = str(record.get("error_type") or "error")
        return Response((), "error", kind.encode("utf-8", "replace").decode("utf-8"))  # half a surrogate is no text
    reading = _reading(record, row)
    if reading.problem is not None:
        return Response((), "invalid", reading.problem)
    return Response(reading.letters, "answered", None)


def _reading(record: Mapping[str, Any], row: Row) -> Reading:
    raw = record.get("raw_response")
    if record.get("prediction") is None and isinstance(raw, str):
        return read_reply(raw, row.options, row.option_labels, multi_select=row.multi_select)
    return read_prediction(record.get("prediction"), row.options, row.option_labels, multi_select=row.multi_select)
