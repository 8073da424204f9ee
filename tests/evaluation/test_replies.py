"""Replies of models, each with the reading that a person gives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacecast.evaluation.replies import read_prediction, read_reply

DIRECTIONS = ("front", "front-left", "back", "back-right")
OBJECTS = ("a chair", "lamp", "TV")
DISTANCES = ("very close (below 1.0 m)", "close (1.0 to 2.0 m)", "moderate (2.0 to 3.3 m)", "far (above 3.3 m)")
STATES = ("not occluded", "occluded", "not visible")
COMPASS = ("north", "northeast", "south", "southwest")
CHINESE = ("前方", "左前方", "后方", "右后方")


def single(reply: str, options: tuple[str, ...] = DIRECTIONS) -> tuple[str, str | None]:
    reading = read_reply(reply, options, "ABCDEFGHI"[: len(options)])
    return "".join(reading.letters), reading.problem


def multi(reply: str, options: tuple[str, ...] = ("cup", "book", "lamp")) -> tuple[str, str | None]:
    reading = read_reply(reply, options, "ABCDEFGHI"[: len(options)], multi_select=True)
    return "".join(reading.letters), reading.problem


@pytest.mark.parametrize(
    "reply",
    [
        # FAULTS, Scoring, first row
        "B", "(B)", "**B**", "B.", "B) front-left", "Answer: B", "The answer is B.", "<think>A is ... C</think> B",
        # neighbours
        "b", "(b)", "b.", "b) front-left", "[B]", '"B"', "'B'", "`B`", "__B__", " B \n", "B!", "B:", "Ｂ", "（Ｂ）",
        "B. front-left", "B: front-left", "B - front-left", "B front-left", "**B) front-left**", "### B",
        "answer: b", "answer is b", "ANSWER: B", "Answer - B", "Answer = B", "Answer:\nB", "**Answer:** B",
        "**Answer**: **B**",
        "Final answer: B", "The final answer is (B)", "The correct answer is option B.", "The correct option is B",
        "The right choice is B", "Option B", "option B.", "Choice: B", "The answer should be B", "My answer is: B.",
        "The answer is **B**, because the chair is left.", "The answer is B front-left", "I choose B.", "I'd go with B",
        "I would pick option B.", "I select B", "B is correct.", "B is the right answer", "Option B is correct.",
        "So B.", "Therefore, B", "Hence, it is B.", "B because the lamp is near.", "B, because the lamp is near.",
        "B\n\nExplanation: the chair is at the front and to the left.", "Let me see.\nThe chair is far.\n\nB",
        "<answer>B</answer>", "<answer> (B) front-left </answer>", "<think>A</think><answer>B</answer>", "<b>B</b>",
        "A? no.</think>\nB", "<thinking>C or D</thinking>B", "<answer>A</answer> wait <answer>B</answer>",
        r"\boxed{B}", r"$\boxed{B}$", r"\boxed{\text{B}}", r"\boxed{\mathrm{B}}", r"Thus \(\boxed{\text{(B)}}\).",
        r"$B$",
        r"\boxed{A}, no: \boxed{B}", r"\boxed{front-left}", r"The answer is $\text{B}$.",
        '{"answer": "B"}', '{"answer": ["B"]}', '{"reasoning": "A or C", "answer": "B"}', '{"Answer": "b"}', '["B"]',
        '```json\n{"answer": "B"}\n```', 'Here it is: {"answer": "B", "confidence": 0.7} as asked.',
        '{"answer": "front-left"}',
        "```\nB\n```",
        # the answer in words
        "front-left", "Front-left.", "front left", "FRONT LEFT", "It is front-left.", "The answer is front-left.",
        "Answer: the front-left", "The chair is to the front-left of the bed.", "The answer is: front-left (B)",
        # Chinese
        "答案是B", "答案是 B。", "答案：B", "答案为B", "选项B", "选B", "我选择B", "正确答案是B", "正确选项是 B",
        "所以选B。", "因此，B",
        "答案：（B）", "B。因为椅子在左边", "选B因为椅子在左边", "B是正确的", "【答案】B", "最终答案：**B**",
        "答案应该是B",
        # the last statement counts
        "The answer is A. No, wait. The answer is B.", "Answer: C\nOn reflection, Answer: B", "A\nB",
        "First I thought the answer is A, so I choose B.", "答案是A？不，答案是B", "C is correct. No: B is correct.",
        # what is denied is not chosen
        "The answer is not A but B.", "Not A. B.", "Option A is wrong. Option B.", "答案不是A，而是B", "不选A，选B",
        "It cannot be C, so B", "Not front. The answer is front-left.", "A is incorrect; B is correct.",
        "选项A不对，选项B",
        "B\nIf the answer is A, the chair would be hidden.", "B (not C)", "The answer is B and not A.",
        # articles and the pronoun
        "It is a chair next to a lamp, so B", "I think B", "I think it is B.", "A person would see B", "I'm sure: B",
        "A chair is in front. Answer: B", "I believe the answer is B", "A bed stands there. I see a desk. B.",
        # what lists the options and then answers
        "A. front\nB. front-left\nC. back\nD. back-right\nThe answer is B",
        "Among (A), (C) and (D) none fits. Answer: (B)",
    ],
)  # fmt: skip
def test_reads_b(reply: str) -> None:
    assert single(reply) == ("B", None)


@pytest.mark.parametrize(
    "reply",
    ["A", "a", "(a)", "A.", "a.", "A) front", "A front", "The answer is A.", "answer is a.",
     "Answer: A because the bed is far",
     "A is correct", "The answer is A, front", "So A.", "选A", "答案是A。",
     "A because it is nearer", "I choose A", "front"],
)  # fmt: skip
def test_reads_a(reply: str) -> None:
    assert single(reply) == ("A", None)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "empty"), ("   \n", "empty"), ("<think>The chair is left, so B", "empty"), ("<think>B</think>", "empty"),
        ("**", "empty"), ("I cannot answer that.", "unread"), ("I'm sorry, I can't help with this.", "unread"),
        ("As an AI model I see no picture.", "unread"), ("A person would need another picture.", "unread"),
        ("A chair", "unread"), ("a chair", "unread"), ("I", "not_offered"), ("a lamp and a bed", "unread"),
        ("I do not know", "unread"),
        ("A or B", "several"), ("A, B", "several"), ("A and B", "several"), ("The answer is A or C.", "several"),
        ("A/B", "several"),
        ("Either A or B", "several"), ("(A) (B)", "several"), ('["A", "B"]', "several"), ("答案是A和B", "several"),
        ("A、B", "several"),
        ("It could be B. It could be C.", "several"), (r"\boxed{A, B}", "several"), ("front or back", "several"),
        ("A. front\nB. front-left\nC. back\nD. back-right", "several"),
        ("E", "not_offered"), ("The answer is E.", "not_offered"), ("(F)", "not_offered"), (r"\boxed{Z}",
        "not_offered"),
        ('{"answer": "E"}', "not_offered"), ("答案是E", "not_offered"),
        ("left", "unread"), ("not front-left", "unread"), ("The answer is not B.", "unread"), ("Not B", "unread"),
        ("答案不是B", "unread"),
        ("The answer is unclear.", "unread"), ("null", "unread"), ("{}", "unread"), ("42", "unread"),
        ("Back to the start: unclear", "unread"),
    ],
)  # fmt: skip
def test_reads_no_answer(reply: str, problem: str) -> None:
    if reply.startswith("Back"):  # "back" is an option; the word alone decides nothing else
        assert single(reply, ("front", "left", "right", "rear")) == ("", problem)
    else:
        assert single(reply) == ("", problem)


@pytest.mark.parametrize(
    ("unit", "letters"),
    [
        (" A, B and ", ""), ("answer is ", ""), ("A. ", "A"), ("the answer is ", ""), ("I choose ", ""), ("(", ""),
        ("<answer>", ""), ("not ", ""), ("so ", ""), (" ", ""), ("```", ""), ("{", ""), ("\\boxed{", ""), ("'A", ""),
    ],
)  # fmt: skip
def test_a_model_that_repeats_itself_is_read_to_its_end(unit: str, letters: str) -> None:
    """A hundred thousand characters: in time that grows with their number, or this would go on for hours."""
    assert single(unit * (100_000 // len(unit)))[0] == letters
    assert single(unit * (100_000 // len(unit)) + "\nAnswer: C\n")[0] == "C"


def test_a_long_text_that_states_nothing_is_not_searched_for_option_texts() -> None:
    reasoning = "The picture shows a room. " * 12 + "The chair might be in front-left"
    assert single(reasoning) == ("", "unread")
    assert single(reasoning + ".\nAnswer: back") == ("C", None)


@pytest.mark.parametrize(
    ("reply", "options", "letters"),
    [
        ("A chair", OBJECTS, "A"),  # the option's own text
        ("chair", ("chair", "lamp", "TV"), "A"),
        ("A lamp", ("chair", "lamp", "TV"), "B"),
        ("TV", OBJECTS, "C"),
        ("It is a lamp", OBJECTS, "B"),
        ("very close", DISTANCES, "A"),
        ("close", DISTANCES, "B"),
        ("Close (1.0 to 2.0 m)", DISTANCES, "B"),
        ("The answer is far.", DISTANCES, "D"),
        ("They are very close.", DISTANCES, "A"),
        ("not occluded", STATES, "A"),
        ("occluded", STATES, "B"),
        ("It is not visible.", STATES, "C"),
        ("The chair is not occluded.", STATES, "A"),
        ("The chair is partly occluded.", STATES, "B"),
        ("north east", COMPASS, "B"),
        ("North-East", COMPASS, "B"),
        ("It lies to the south-west.", COMPASS, "D"),
        ("左前方", CHINESE, "B"),
        ("答案是左前方", CHINESE, "B"),
        ("答案：前方。", CHINESE, "A"),
        ("I", ("a", "b", "c", "d", "e", "f", "g", "h", "i"), "I"),
        ("I think the answer is I.", tuple("rstuvwxyz"), "I"),
        ("The answer is I", tuple("rstuvwxyz"), "I"),
    ],
)
def test_reads_texts_of_options(reply: str, options: tuple[str, ...], letters: str) -> None:
    assert single(reply, options) == (letters, None)


def test_a_text_that_two_options_share_is_no_answer() -> None:
    assert single("close", ("close (near)", "close (next to)", "far")) == ("", "several")


@pytest.mark.parametrize(
    "reply",
    ["A, C", "A and C", "AC", "A,C", "C, A", "CA", "ac", "A & C", "A; C", "A/C", "A、C", "A和C",
     "(A), (C)", "(A) and (C)", "[A, C]",
     "**A, C**", "Answer: A, C", "The answer is A and C.", "The answers are A and C.", "答案是A和C", "答案：AC", "选AC",
     "选A、C", "选项A和C",
     '["A", "C"]', '{"answer": ["A", "C"]}', '{"answer": "A, C"}', r"\boxed{A, C}", r"\boxed{AC}",
     "<think>B too?</think>A, C",
     "cup, lamp", "cup and lamp", "Answer: cup and lamp", "A. cup\nC. lamp", "A) cup, C) lamp", "A, C.", "A, A, C",
     "I choose A and C.",
     "Answer: A, B\nNo. Answer: A, C", "Options A and C", "A, C\nBecause they stand on it.", "A C", "A\nC"],
)  # fmt: skip
def test_multi_select_reads_a_and_c(reply: str) -> None:
    assert multi(reply) == ("AC", None)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("B", ("B", None)), ("A, B, C", ("ABC", None)), ("A, B and C", ("ABC", None)), ("A, B, and C", ("ABC", None)),
        ("A, D", ("", "not_offered")), ("AD", ("", "not_offered")), ("ABCD", ("", "not_offered")), ("D", ("",
        "not_offered")),
        ("Answer: A, E", ("", "not_offered")), ('["A", "E"]', ("", "not_offered")), ("", ("", "empty")), ("[]", ("",
        "empty")),
        ("none", ("", "unread")), ("None of them moves.", ("", "unread")), ("book", ("B", None)), ("Only B moves.",
        ("B", None)),
        ("A and C stay, B moves", ("", "unread")), ('["A", 3]', ("", "unread")),
    ],
)  # fmt: skip
def test_multi_select_others(reply: str, expected: tuple[str, str | None]) -> None:
    assert multi(reply) == expected


def test_a_word_that_is_an_option_is_no_run_of_letters() -> None:
    assert multi("bed", ("bed", "cab", "lamp")) == ("A", None)
    assert multi("CAB", ("bed", "cab", "lamp")) == ("B", None)


@pytest.mark.parametrize(
    ("prediction", "multi_select", "expected"),
    [
        ("B", False, ("B", None)), (["B"], False, ("B", None)), ("b", False, ("B", None)), (["A", "B"], False, ("",
        "several")),
        ("A,C", True, ("AC", None)), (["C", "A"], True, ("AC", None)), (["A", "Z"], True, ("", "not_offered")), ([],
        True, ("", "empty")),
        (None, False, ("", "empty")), (2, False, ("", "unread")), ("", False, ("", "empty")), ({"a": 1}, False, ("",
        "unread")),
        ([["A"]], True, ("", "unread")),
    ],
)  # fmt: skip
def test_reads_predictions(prediction: object, multi_select: bool, expected: tuple[str, str | None]) -> None:
    reading = read_prediction(prediction, DIRECTIONS, "ABCD", multi_select=multi_select)
    assert ("".join(reading.letters), reading.problem) == expected


@given(st.text(max_size=200), st.booleans())
def test_any_text_is_read_or_refused(reply: str, multi_select: bool) -> None:
    reading = read_reply(reply, DIRECTIONS, "ABCD", multi_select=multi_select)
    assert bool(reading.letters) == (reading.problem is None)
    assert set(reading.letters) <= set("ABCD")
    assert len(reading.letters) <= (4 if multi_select else 1)


@given(
    st.sampled_from("ABCD"),
    st.sampled_from(["{}", "Answer: {}", "({})", "So, {}.", "答案是{}", "\\boxed{{{}}}", "{} is correct."]),
)
def test_every_letter_reads_alike(letter: str, form: str) -> None:
    assert single(form.format(letter)) == (letter, None)
