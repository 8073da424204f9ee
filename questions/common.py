"""What the families of question types share: the base of a type, facts, refusals, and which views to show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from questions.kinds import KIND_BY_CODE
from spacecast.dataset.context import SceneContext
from spacecast.dataset.rows import FACTS_SCHEMA, SETTINGS, plain
from spacecast.dataset.showings import IMAGES, Images, Showing
from spacecast.dataset.types import Choice, Draft, Refusal, Tag, ViewUse
from spacecast.relations import Answer

T = TypeVar("T")


class BuiltType(ABC):
    """A published type that is built; its columns come from :mod:`questions.kinds` by its code."""

    code: str
    version: int = 1
    needs_north: bool = False
    level: str
    name: str
    task: str
    option_count: int
    multi_select: bool
    images: tuple[Images, ...]
    """How many pictures its questions may show."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "code" not in cls.__dict__:
            return  # a base of several types
        kind = KIND_BY_CODE[cls.code]
        cls.level, cls.name, cls.task = kind.level, kind.name, kind.family
        cls.option_count, cls.multi_select = kind.option_count, kind.multi_select
        cls.images = IMAGES[: kind.max_images]

    @abstractmethod
    def enumerate(self, context: SceneContext) -> Iterator[Draft | Refusal]:
        """Every certain case, sorted, and what was refused on the way."""


_KEPT: WeakKeyDictionary[SceneContext, dict[Hashable, Any]] = WeakKeyDictionary()


def kept(context: SceneContext, key: Hashable, make: Callable[[], T]) -> T:
    """What is worked out of a scene once, and kept as long as its context.

    Args:
        context: the scene.
        key: begins with what it is, so that nothing else has it.
        make: works it out.
    """
    known = _KEPT.setdefault(context, {})
    if key not in known:
        known[key] = make()
    value: T = known[key]
    return value


def seen_refusals(context: SceneContext) -> Iterator[Refusal]:
    """Why objects that show in a view cannot be named, or are not to be seen, in it."""
    for record in context.records:
        for object_id, problem in record.problems.items():
            if problem == "not_in_view":
                continue
            stage = "name" if problem == "not_unique" else "view"
            yield Refusal(stage, problem, f"{named(context, object_id)} in {record.name}")


def relation_refusals(answer: Answer, example: str) -> list[Refusal]:
    """One refusal for each reason why an answer is not certain."""
    return [Refusal("relation", reason, example) for reason in answer.reasons]


def named(context: SceneContext, object_id: int) -> str:
    """``chair 12``, for examples of refusals."""
    return f"{context.scene.objects[object_id].label} {object_id}"


def no_chain(example: str) -> Refusal:
    """No chain between views that show the one group and views that show the other, but for its bridges."""
    return Refusal("view", "no_chain", example)


def clearest(context: SceneContext, views: Sequence[str], object_ids: Iterable[int]) -> str:
    """Of some views that show these objects, the one that shows the worst seen of them best; the first of equals."""
    ids = tuple(object_ids)
    return max(views, key=lambda name: context.clearness(name, ids))


def single(view: str) -> tuple[ViewUse, ...]:
    """The views of a question about one picture."""
    return (ViewUse(view, "image"),)


def words_of_pictures(showing: Showing) -> dict[str, str | int]:
    """Words for the templates: how the text calls the first and the last picture, and how many there are."""
    if showing.images == "1":
        return {"pictures": "one", "first": "this_picture", "the_first": "the_picture"}
    last = len(showing.views)
    return {
        "pictures": "several",
        "count": f"pictures_{last}",
        "first": "picture_1",
        "the_first": "picture_1",
        "last": f"picture_{last}",
    }


def facts_of(
    context: SceneContext,
    views: Sequence[ViewUse],
    *,
    roles: Mapping[int, Sequence[str]],
    relation: Mapping[str, Any],
    margins: Mapping[str, float],
    binding_view: str | None = None,
    camera_compass: str | None = None,
    frame: Mapping[str, Any] | None = None,
    attachment: Iterable[tuple[int, int]] = (),
    intervention: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The facts of a draft; FORMATS section 3, without ``wording`` and ``options``.

    Args:
        context: the scene.
        views: in the order shown.
        roles: object id -> its roles; every object that is named, moved or in the frame.
        relation: kind, target, reference, before, after.
        margins: how far the answer is from not being certain.
        binding_view: the view whose camera gives the camera heading or the compass statement.
        camera_compass: its stated heading.
        frame: kind, anchor, facing, heading_in_world.
        attachment: edges (parent, child) that matter.
        intervention: what is done; the twin of the question is then the relation before.
    """
    edges = context.scene.attachment.edges
    own = {
        "binding_view": binding_view,
        "camera_compass": camera_compass,
        "frame": frame,
        "intervention": intervention,
        "attachment": [
            {"parent": parent, "child": child, **{key: edges[parent, child][key] for key in ("kind", "certainty")}}
            for parent, child in sorted(attachment)
        ],
        "relation": relation,
        "twin": None if intervention is None else {"value": relation["before"]["value"], "question_uid": None},
        "margins": dict(sorted(margins.items())),
    }
    return {
        "schema": FACTS_SCHEMA,
        "objects": [context.object_facts(i, sorted(roles[i])) for i in sorted(roles)],
        "views": [context.view_facts(view.name, view.role) for view in views],
        **plain(own, decimals=SETTINGS.decimals),
    }


def words_of(context: SceneContext, roles: Mapping[str, int], others: Iterable[int] = ()) -> dict[str, str | int]:
    """Words for the templates: roles with object ids, and the Chinese name of each object that has one.

    Args:
        context: the scene.
        roles: slot -> object id.
        others: ids that are named in options only.
    """
    words: dict[str, str | int] = dict(roles)
    for object_id in sorted({*roles.values(), *others}):
        name = context.scene.objects[object_id].instance.label_zh
        if name is not None:
            words[f"zh:{object_id}"] = name
    return words


def choices_of(values: Iterable[str], right: str, tags: Callable[[str], Tag]) -> tuple[Choice, ...]:
    """Options in the order given; the right one has no tag."""
    return tuple(Choice(value, None if value == right else tags(value)) for value in values)
