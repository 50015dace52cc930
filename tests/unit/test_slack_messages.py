"""Messages for Slack: whom they mention, and that what is too long is cut where Slack's markup stays whole."""

from __future__ import annotations

import html
import re

import pytest

from jupyterlab_t9kjob.core.translation import _
from jupyterlab_t9kjob.notifications.formats import body_of
from jupyterlab_t9kjob.notifications.messages import Message


def sections(**fields: object) -> list[str]:
    message = Message(id="1", kind="failed", time=0.0, title=_("train failed"), **fields)  # type: ignore[arg-type]
    blocks = body_of(message, "slack")["blocks"]
    return [block["text"]["text"] for block in blocks if block["type"] == "section"]


@pytest.mark.parametrize(
    ("mention", "sent"),
    [
        ("<@U024BE7LH>", "<@U024BE7LH>"),
        ("U024BE7LH", "<@U024BE7LH>"),
        (" @W012A3CDE ", "<@W012A3CDE>"),
        ("<!subteam^SAZ94GDB8>", "<!subteam^SAZ94GDB8>"),
        ("<!here>", "<!here>"),
        ("@lin", "@lin"),
        ("UNIVERSITY", "UNIVERSITY"),
        ("<@U024BE7LH> <!channel>", "&lt;@U024BE7LH&gt; &lt;!channel&gt;"),
        ("<http://evil.example|@lin>", "&lt;http://evil.example|@lin&gt;"),
    ],
)
def test_a_mention_is_sent_as_slack_reads_it(mention: str, sent: str) -> None:
    assert sections(mention=mention) == [f"*train failed* {sent}"]


@pytest.mark.parametrize("line", ["&" * 300, "x" + "<" * 299, "a```" * 75])
def test_long_lines_are_cut_within_the_code_block(line: str) -> None:
    _head, block = sections(lines=[line] * 5)
    assert len(block) <= 3000 and block.startswith("```") and block.endswith("```")
    lines = block[3:-3].split("\n")
    assert len(lines) == 5 and "```" not in block[3:-3]
    for shown in lines:
        assert not re.sub("&(amp|lt|gt);", "", shown).count("&"), "an entity was cut"
        assert line.replace("```", "'''").startswith(html.unescape(shown))


def test_a_long_text_is_cut_between_characters() -> None:
    (head,) = sections(text=_("{words}", words="&" * 5000))
    assert len(head) <= 3000 and head.endswith("&amp;")
