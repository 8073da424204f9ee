"""Answers questions of direction by reckoning, from words alone: the question, its options, and the metadata.

It knows no facts and no code of the package: names, numbers and who carries whom are read from the metadata, who is
asked about and what is done from the question. It stands for a reader who makes no mistake.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

WORDS = ("front", "front-right", "right", "back-right", "back", "back-left", "left", "front-left")
COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")

# A place for a name is <T>; T is looked for, R is where one stands, A the observer, F what it faces.
RELATIONS = (
    r"from the centre of <R>, in which direction (?:is|are) the centre of <T>",
    r"where (?:is|are) <T>,? (?:then, )?as counted from <R>",
    r"standing at <R> and facing exactly the way the camera faces.*in which direction would <T> be",
    r"[Hh]ow (?:does|do) <T> (?:then )?lie from <R>",
    r"in which compass direction does the centre of <T> lie from the centre of <R>",
    r"[Gg]oing from <R> to <T>",
    r"leads? from the centre of <R> to the centre of <T>",
    r"in which direction from <R>, as counted by <R2>, is the centre of <T>",
    r"in which direction from you is the centre of <T>",
    r"[Ww]here (?:is|are) <T> relative to you",
    r"would you find <T>",
    r"would <R> find <T>",
)
OBSERVERS = (
    r"You are <A>, at its centre, and you face the (?:centre of <F>|camera)",
    r"stand in the place of <A>,? (?:and )?look towards (?:<F>|the camera)",
    r"Put yourself where <A> (?:is|are)(?: and turn until|, with) <F>",
    r"At the start <M> and <A> both face the camera",
    r"Give <M> and <A> a front each, the side that faces the camera",
    r"Give <A> a front, the side that faces the camera",
    r"you are at the centre of <A>, wherever that is by then, and turn to face the centre of <F>",
    r"the place where <A> (?:is|are) after that and look straight towards <F>",
    r"the new position of <A>, even if that is the old one, with <F> straight in front",
)
ORBITS = (
    r"<M> (?:is|are) moved (?P<turn>[\w ]+?) along a circle around the centre of <O>",
    r"slides <M> over the floor around <O>: (?P<turn>[\w ]+?) on a circle",
    r"with <O> at its centre. Along this circle <M> (?:is|are) brought (?P<turn>[\w ]+?), viewed from above",
)
MOVES = (
    r"<M> (?:is|are) moved (?P<far>[\d.]+) m (?P<way>[\w ]+?)(?:, level| as counted by)",
    r"moves <M> (?P<far>[\d.]+) m (?P<way>[\w ]+?)(?:,| over)",
    r"<M> (?:is|are) shifted horizontally by (?P<far>[\d.]+) m, (?P<way>[\w ]+?)(?:,| \(| in )",
    r"<M> (?:is|are) shifted horizontally to the (?P<way>\w+) by (?P<far>[\d.]+) m",
    r"You are moved (?P<far>[\d.]+) m (?P<way>[\w ]+?), level",
    r"<M>, and you with it, (?:is|are) moved (?P<far>[\d.]+) m (?P<way>[\w ]+?) in these directions",
)
LAYOUT = r"(?:turned|turn it,?) (?:together |as one piece,? )*by (\d+) degrees (clockwise|counterclockwise)"


class Thing(NamedTuple):
    center: tuple[float, float]
    carrier: str | None


class World(NamedTuple):
    things: dict[str, Thing]
    named: list[str]
    camera: tuple[float, float]
    camera_deg: float | None
    """Heading of the first picture's camera."""


def world_of(metadata: str) -> World:
    things, named, named_here = {}, [], False
    for line in metadata.splitlines():
        if line and not line.startswith(" "):
            named_here = line == "Objects named in the question"
        found = re.match(r"  (.+) \(id (\d+)\): centre \(([-\d.]+), ([-\d.]+), ", line)
        if not found:
            continue
        carrier = re.search(r"; carried by .+? \(id (\d+)\)", line)
        things[found[2]] = Thing((float(found[3]), float(found[4])), carrier and carrier[1])
        if named_here:
            named.append((found[1], found[2]))
    camera = re.search(r"  picture 1: camera at \(([-\d.]+), ([-\d.]+), .*?(?:, heading ([\d.]+)|no stable)", metadata)
    assert camera, metadata
    assert len({label for label, _ in named}) == len(named), "two things of one name in a question"
    return World(
        {**things, **{label: things[number] for label, number in named}},
        [label for label, _ in named],
        (float(camera[1]), float(camera[2])),
        None if camera[3] is None else float(camera[3]),
    )


class Reckoner:
    def __init__(self, question: str, metadata: str) -> None:
        self.question, self.world = question, world_of(metadata)
        self.ids = dict(re.findall(r"^  (.+) \(id (\d+)\): centre", metadata, re.MULTILINE))
        self.places = {name: thing.center for name, thing in self.world.things.items()}

    def answer(self, options: list[str]) -> str:
        """The option that is right."""
        by_compass = all(option in COMPASS for option in options)
        asked = self.one(RELATIONS)
        observer = self.found(OBSERVERS)
        first = None if observer is None else self.facing(observer)  # before anything is changed
        orbit = self.found(ORBITS)
        if orbit is not None:
            self.orbit(orbit)
            assert observer is not None
            heading = self.facing(observer)
        elif by_compass:
            heading = 0.0
        elif first is not None:
            heading = first
        else:
            assert self.world.camera_deg is not None
            heading = self.world.camera_deg
        if orbit is None:
            self.move(observer, heading)
        reference = asked.get("R") or (observer or {})["A"]
        assert asked.get("R2", reference) == reference
        turned = re.search(LAYOUT, self.question)
        turn = 0.0
        if turned is not None:
            turn = float(turned[1]) * (1.0 if turned[2] == "clockwise" else -1.0)
        angle = bearing(self.places[reference], self.places[asked["T"]]) + turn - heading
        word = (COMPASS if by_compass else WORDS)[round(angle / 45.0) % 8]
        assert word in options, (word, options)
        return word

    # -- what is done

    def move(self, observer: dict[str, str] | None, heading: float) -> None:
        found = self.found(MOVES)
        if found is None:
            assert not re.search(r"pushe[sd]|moved \d|shifted", self.question), self.question
            return
        mover = found.get("M") or (observer or {})["A"]
        way = found["way"].removeprefix("due ")
        if way in COMPASS:
            angle = 45.0 * COMPASS.index(way)
        elif "forward" in way or "backward" in way or observer is not None:
            assert observer is not None
            angle = bearing(self.places[mover], self.world.camera) + turn_of(way, "forward", "backward")
        else:
            angle = heading + turn_of(way, "away from the camera", "towards the camera")
        far = float(found["far"])
        self.shift(mover, far * math.sin(math.radians(angle)), far * math.cos(math.radians(angle)))

    def orbit(self, found: dict[str, str]) -> None:
        degrees = float(re.search(r"\d+", found["turn"])[0])
        clockwise = -1.0 if "counterclockwise" in found["turn"] else 1.0
        (x, y), (middle_x, middle_y) = self.places[found["M"]], self.places[found["O"]]
        angle = bearing((middle_x, middle_y), (x, y)) + clockwise * degrees
        radius = math.hypot(x - middle_x, y - middle_y)
        to_x = middle_x + radius * math.sin(math.radians(angle))
        to_y = middle_y + radius * math.cos(math.radians(angle))
        self.shift(found["M"], to_x - x, to_y - y)

    def shift(self, mover: str, east: float, north: float) -> None:
        """A thing, and all that it carries."""
        for name, thing in self.world.things.items():
            carriers, at = [self.ids.get(name, name)], thing.carrier
            while at is not None:
                carriers.append(at)
                at = self.world.things[at].carrier if at in self.world.things else None
            if self.ids[mover] in carriers:
                x, y = self.places[name]
                self.places[name] = (x + east, y + north)

    # -- what is read

    def facing(self, observer: dict[str, str]) -> float:
        faced = self.places[observer["F"]] if "F" in observer else self.world.camera
        return bearing(self.places[observer["A"]], faced)

    def one(self, patterns: tuple[str, ...]) -> dict[str, str]:
        found = self.found(patterns)
        assert found is not None, f"nothing read in: {self.question}"
        return found

    def found(self, patterns: tuple[str, ...]) -> dict[str, str] | None:
        """What the first pattern that fits says."""
        names = "|".join(map(re.escape, sorted(self.world.named, key=len, reverse=True)))
        for pattern in patterns:
            match = re.search(re.sub(r"<([A-Z]\d?)>", rf"[Tt]he (?P<\1>{names})\\b", pattern), self.question)
            if match:
                return {key: value for key, value in match.groupdict().items() if value is not None}
        return None


def bearing(start: tuple[float, float], end: tuple[float, float]) -> float:
    """Degrees clockwise from north."""
    return math.degrees(math.atan2(end[0] - start[0], end[1] - start[1]))


def turn_of(way: str, ahead: str, behind: str) -> float:
    """Degrees clockwise from straight ahead, of ``diagonally towards the camera and to the right``."""
    forward = -1.0 if behind in way else 1.0 if ahead in way else 0.0
    sideways = 1.0 if way.endswith("right") else -1.0 if way.endswith("left") else 0.0
    assert forward or sideways, way
    return math.degrees(math.atan2(sideways, forward))
