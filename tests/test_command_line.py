"""What the command line says to wrong arguments and to places that cannot be written to: one line, and status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacecast.cli import main


def one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What is said, after it was checked to be one line on stderr."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("spacecast: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "no command 'nonsense'"),
        (["scene"], "Required options; Missing from spacecast scene: PATH Folder"),
        (["scene", "raw"], "Scene id, for example scene0011_00"),
        (
            ["build", "raw", "out", "--workers", "x"],
            "spacecast: --workers should be a whole number, found 'x'; see spacecast build --help",
        ),
        (["build", "raw", "out", "--questions", "1.5"], "--questions should be a whole number, found '1.5'; see"),
        (["verify", __file__], "test_command_line.py: is a file; give the folder of a dataset"),
        (["check", __file__], "test_command_line.py: is a file; give the folder"),
        (["score", "set", "none.jsonl", "out"], "set: no such folder; give the folder of a dataset"),
        (["build", "raw", "out", "--seeds", "3"], "Perhaps you meant: --seed INT"),
        (["build", "raw", "out", "--pictures", "jpg"], "Expected one of ('photos', 'render')"),
        (["ask", "raw", "scene0011_00"], "{direction, distance, occlusion, attachment}"),
        (["ask", "raw", "scene0011_00", "direction", "lamp"], "--reference"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in one_line(arguments, capsys)


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["build", "--help"])
    assert not stop.value.code
    assert "--seed INT" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["a folder", "under a file"])
def test_a_place_that_cannot_be_written_to_is_named(
    place: str, tmp_path: Path, demo_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    picture = tmp_path if place == "a folder" else tmp_path / "file" / "map.png"
    scene = sorted(path.name for path in (demo_root / "scans").iterdir())[0]
    assert main(["scene", str(demo_root), scene, "--picture", str(picture)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert str(tmp_path) in err


def test_a_digit_that_is_no_number_is_a_label(demo_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = sorted(path.name for path in (demo_root / "scans").iterdir())[0]
    assert "no object has the label '²'" in one_line(["ask", str(demo_root), scene, "attachment", "²"], capsys)


@pytest.mark.parametrize("command", ["evaluate", "report", "score"])
def test_nothing_is_written_into_the_dataset(
    command: str, demo_benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "predictions.jsonl").touch()
    middle = [str(tmp_path / "predictions.jsonl")] if command == "score" else []
    before = sorted(demo_benchmark.rglob("*"))
    (tmp_path / "link").symlink_to(demo_benchmark / "data")
    for out in (demo_benchmark, demo_benchmark / "data", tmp_path / "link" / "new"):
        assert "give another one to write to" in one_line([command, str(demo_benchmark), *middle, str(out)], capsys)
    assert sorted(demo_benchmark.rglob("*")) == before


@pytest.mark.parametrize("command", ["build", "merge"])
@pytest.mark.parametrize(
    "case",
    [
        ("raw", "raw", "raw: is read from, and is kept as it is"),
        ("raw", "raw/out", "raw/out: lies in {given}"),
        ("raw", "link", "link: is read from"),
        ("link", "raw/scans/out", "raw/scans/out: lies in {given}"),
        ("raw", "link/out/new", "link/out/new: lies in {given}"),
        ("raw/scans", "raw", "raw/scans: lies in {out}"),
        ("link/scans", "raw", "link/scans: lies in {out}"),
        ("raw", ".", "raw: lies in {out}"),
    ],
)
def test_what_is_read_and_what_is_written_are_kept_apart(
    command: str, case: tuple[str, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *names, said = case
    (tmp_path / "raw" / "scans").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "raw")
    before = sorted(tmp_path.rglob("*"))
    given, out = (str(tmp_path / name) for name in names)
    error = one_line([command, given, out], capsys)
    assert f"/{said.format(given=given, out=out)}" in error
    assert error.endswith("; give another one to write to\n")
    assert sorted(tmp_path.rglob("*")) == before
