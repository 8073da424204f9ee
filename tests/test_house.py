"""The house stays as docs/ARCHITECTURE.md draws it: floors, one home for open3d and plyfile, small files."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("spacecast", "scannet_tools", "questions")
# Lowest first; a module may import its own floor and those before it.
FLOORS = (
    *("errors", "files", "frames", "testing", "geometry", "scan", "registry", "scene", "sight", "relations", "views"),
    *("walks", "dataset", "evaluation", "training", "report", "cli"),
)


def modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(path: Path, *, typing_too: bool = True) -> list[tuple[str, bool]]:
    """Names of imported modules, and whether the import stands at the top of the module (runs on import)."""
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend((alias.name, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom) and child.module:
                found.append((child.module, top))
                found.extend((f"{child.module}.{alias.name}", top) for alias in child.names)
            elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                if typing_too:
                    visit(child, False)
            else:
                visit(child, top and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))

    visit(ast.parse(path.read_text(encoding="utf-8")), True)
    return found


def floor(module: str) -> int | None:
    parts = module.split(".")
    return FLOORS.index(parts[1]) if parts[0] == "spacecast" and len(parts) > 1 and parts[1] in FLOORS else None


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("spacecast.")])
def test_every_module_of_the_engine_stands_on_a_floor(module: str) -> None:
    assert floor(module) is not None


@pytest.mark.parametrize("module", list(MODULES))
def test_imports_go_down(module: str) -> None:
    own = module.split(".", maxsplit=1)[0]
    for name, _ in imported(MODULES[module]):
        other = name.split(".")[0]
        if own == "spacecast":
            assert other not in ("scannet_tools", "questions"), f"{module} imports {name}"
        elif other in PACKAGES:
            assert other in (own, "spacecast"), f"{module} imports {name}"
        mine, theirs = floor(module), floor(name)
        if mine is not None and theirs is not None:
            assert theirs <= mine, f"{module} imports {name}, which stands above it"


def test_no_circle_of_imports() -> None:
    edges = {}
    for module, path in MODULES.items():
        names = {name for name, top in imported(path, typing_too=False) if top}
        edges[module] = {name for name in names if name in MODULES and name != module}
        # `from package import submodule` also names the package; the package is a step only if it defines names
        edges[module] -= {m for m in edges[module] if module.startswith(f"{m}.")}
    done: set[str] = set()

    def walk(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, f"circle: {' -> '.join((*trail, module))}"
        if module not in done:
            for other in sorted(edges[module]):
                walk(other, (*trail, module))
            done.add(module)

    for module in sorted(edges):
        walk(module, ())


@pytest.mark.parametrize("library, home", [("open3d", "spacecast/sight/rays.py"), ("plyfile", "scannet_tools/ply.py")])
def test_heavy_or_foreign_libraries_have_one_home_and_load_late(library: str, home: str) -> None:
    users = {}
    for path in MODULES.values():
        for name, top in imported(path):
            if name.split(".")[0] == library:
                users.setdefault(path.relative_to(ROOT).as_posix(), set()).add(top)
    assert users == {home: {False}}


@pytest.mark.parametrize(
    "path",
    [
        p.relative_to(ROOT).as_posix()
        for p in ROOT.glob("[a-z]*/**/*.py")
        if p.relative_to(ROOT).parts[0] in (*PACKAGES, "tests", "benchmarks")
    ],
)
def test_files_fit_a_reader(path: str) -> None:
    assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= 700


def test_no_module_state_of_chance_and_no_hash() -> None:
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called != "hash", f"{module}: Python's hash differs between runs"
                assert not called.startswith(("np.random.", "numpy.random.", "random.")) or called.endswith(
                    (".Generator", ".Philox")
                ), f"{module}: {called}"


def test_help_is_instant_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from spacecast.cli import main; main(['--help']);"
        "heavy = {'numpy', 'open3d', 'scipy', 'shapely', 'pandas', 'pyarrow', 'networkx', 'PIL', 'plyfile'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_packages_that_are_imported_are_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *(x for extra in project["optional-dependencies"].values() for x in extra)]
    names = {line.split(";")[0].split(">")[0].split("[")[0].strip().lower().replace("-", "_") for line in listed}
    names |= {"pil"} if "pillow" in names else set()
    names |= {"distributed"} if "dask" in names else set()  # an extra of dask
    for module, path in MODULES.items():
        for name, _ in imported(path):
            top = name.split(".")[0].lower()
            assert top in sys.stdlib_module_names or top in names or top in PACKAGES, f"{module} imports {name}"
