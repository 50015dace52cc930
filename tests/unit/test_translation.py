"""Texts for users: English, other languages, records, and the form in which the code writes them."""

from __future__ import annotations

import ast
import copy
import pickle
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

import jupyterlab_t9kjob
from jupyterlab_t9kjob.core import translation
from jupyterlab_t9kjob.core.texts.wording import failure
from jupyterlab_t9kjob.core.translation import (
    STORED,
    Text,
    _,
    _n,
    language,
    listing,
    sentences,
    translated,
    use_catalogue,
)

SOURCES = sorted(Path(jupyterlab_t9kjob.__file__).parent.rglob("*.py"))


class Answer(BaseModel):
    said: Text
    hint: Text | None = None
    more: list[Text] = []


class Backwards:
    """A language in which every message is in brackets."""

    def gettext(self, message: str, /) -> str:
        known = {"{who} waits": "[zzz {who}]", "wrong": "{nobody}", "{first}, {rest}": "{first}、{rest}"}
        return {**known, "{who} failed": "{who} 失败", "the script": "脚本"}.get(message, message)

    def ngettext(self, singular: str, plural: str, number: int, /) -> str:
        return f"[{singular if number == 1 else plural}]"


@pytest.fixture
def backwards() -> Iterator[None]:
    before = translation._current
    use_catalogue(Backwards)
    yield
    use_catalogue(before)


def test_a_text_is_english() -> None:
    assert _("{who} waits", who="train-1") == "train-1 waits"
    assert [_n("{n} job", "{n} jobs", n) for n in (1, 2)] == ["1 job", "2 jobs"]
    assert Text.verbatim("{not} ours") == "{not} ours"


def test_an_answer_is_in_the_readers_language(backwards: None) -> None:
    jobs = _n("{n} job", "{n} jobs", 2)
    answer = Answer(said=_("{who} waits", who=jobs), hint=_("wrong"), more=[Text.verbatim("{who} waits")])
    assert answer.said == "2 jobs waits"
    assert answer.model_dump() == {"said": "[zzz [2 jobs]]", "hint": "wrong", "more": ["{who} waits"]}
    assert translated("a plain text") == "a plain text"


def test_a_record_keeps_message_and_parameters(backwards: None) -> None:
    said = _("{who} waits", who=_n("{n} job", "{n} jobs", 2))
    record = Answer(said=said, hint="older record").model_dump_json(context=STORED)
    read = Answer.model_validate_json(record)
    assert read == Answer(said=said, hint="older record")
    assert read.model_dump()["said"] == "[zzz [2 jobs]]"


@pytest.mark.parametrize(
    "stored",
    [
        {"params": {}},
        {"message": "{x}"},
        {"message": "x", "params": 3},
        {"message": ""},
        {"message": 3},
        {"message": "x", "plural": 3, "params": {"n": 1}},
        {"message": "x", "plural": "y"},
        {"message": "x", "plural": "y", "params": {"n": "many"}},
        {"message": "{x.__class__}", "params": {"x": "a"}},
        {"message": "{x[0]}", "params": {"x": "a"}},
        {"message": "{x:>60000000}", "params": {"x": "a"}},
        {"message": "{x!r}", "params": {"x": "a"}},
        {"message": "x", "plural": "{n:>60000000}", "params": {"n": 1}},
        {"message": "{x}" * 100, "params": {"x": "a" * 1000}},
        {"message": "x", "params": {"x": ["a"]}},
        7,
        ["x"],
    ],
)
def test_another_form_is_refused(stored: object) -> None:
    with pytest.raises(ValidationError):
        Answer.model_validate({"said": stored})


def test_a_catalogue_with_a_wrong_plural_rule_gives_english(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Backwards):
        def ngettext(self, singular: str, plural: str, number: int, /) -> str:
            raise ValueError("the plural rule has an error")

    monkeypatch.setattr(translation, "_current", Wrong)
    assert translated(_n("{n} job", "{n} jobs", 2)) == "2 jobs"


def test_the_language_is_that_of_the_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    class German(Backwards):
        def gettext(self, message: str, /) -> str:
            return message or "Language: de"

    assert language() == ""
    monkeypatch.setattr(translation, "_current", German)
    assert language() == "Language: de"


def test_words_of_others_stay_a_text() -> None:
    said = _("{who} waits", who="a")
    assert Text.verbatim(said) is said


def test_a_long_error_that_is_a_text_stays_translatable() -> None:
    error = _("the disk that holds {path} is full", path="/" * 400)
    said = failure("Rank 1", 1, error)
    assert isinstance(said, Text) and isinstance(said.params["error"], Text)
    assert said.params["error"].message == error.message and len(said) < 400


def test_a_copy_is_the_same_text() -> None:
    said = _("{who} waits", who="a")
    for copied in (pickle.loads(pickle.dumps(said)), copy.deepcopy(said)):
        assert (copied, copied.message, copied.params) == ("a waits", "{who} waits", {"who": "a"})


def test_sentences_and_lists(backwards: None) -> None:
    said = sentences(_("{who} waits", who="a"), None, "Then.")
    assert said == "a waits Then." and translated(said) == "[zzz a] Then."
    assert sentences(None, None) is None
    assert [listing(["a", "b", "c"][:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert [listing(["a", "b", "c", "d"], most) for most in (2, 3)] == ["a, b and 2 others", "a, b, c and 1 other"]
    assert translated(listing(["a", "b", "c", "d"])) == "a、b、c and d"
    many = listing([f"node-{number}" for number in range(3000)])
    assert Text.restored(many.stored()) == many


def test_chinese_characters_have_no_space_between_them(backwards: None) -> None:
    assert [translated(_("{who} failed", who=who)) for who in (_("the script"), "worker-0")] == [
        "脚本失败",
        "worker-0 失败",
    ]
    assert translated(_("{who} failed", who="我 的")) == "我 的失败"


def test_words_of_others_can_be_changed() -> None:
    said = _("{who} waits {n}", who=_("{name}!", name="long name"), n=3)
    assert said.with_words(lambda word: word[:4]) == "long! waits 3"
    assert said.with_params(n=4) == "long name! waits 4"
    assert said.with_params(name="b", other=1) == "b! waits 3"


def placeholders(message: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(message) if name is not None}


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "_n"):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_messages_are_literals_with_their_parameters(path: Path) -> None:
    """The catalogue's tools find literal messages only; a placeholder without a value would fail when it is shown."""
    tree = ast.parse(path.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    if "_" in names:
        bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        assert "_" not in bound, "`_` is the function that makes texts: use another name for what is not used"
    for call in calls(tree):
        messages = call.args[: 2 if call.func.id == "_n" else 1]  # type: ignore[attr-defined]
        assert all(isinstance(message, ast.Constant) for message in messages), ast.unparse(call)
        if any(keyword.arg is None for keyword in call.keywords):
            continue
        given = {str(keyword.arg) for keyword in call.keywords} | ({"n"} if len(messages) == 2 else set())
        used = set().union(*(placeholders(message.value) for message in messages))  # type: ignore[attr-defined]
        assert used <= given and given - used <= {"n"}, ast.unparse(call)
