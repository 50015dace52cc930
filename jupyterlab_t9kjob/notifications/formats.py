"""Requests to chat services, and the meaning of their answers.

Sources: Slack's incoming webhooks (api.slack.com/messaging/webhooks), Feishu's custom bots (open.feishu.cn, "Use custom
bots in a group"), DingTalk's custom robots (open.dingtalk.com, "Custom robot access"). Feishu and DingTalk report an
error by a code in the JSON of an answer with the status 200.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..core.translation import Text, _, translated
from .messages import Message
from .model import Service

SERVICE_NAMES: dict[Service, str] = {"slack": "Slack", "feishu": "Feishu", "dingtalk": "DingTalk", "json": "Webhook"}

_FEISHU_KEY, _FEISHU_ADDRESS, _FEISHU_KEYWORD = 19021, 19022, 19024
_DINGTALK_REFUSED = 310000
_MOST_SLACK = 2900
"""Characters of a text in a block; Slack refuses more than 3000."""
_SLACK_MENTION = re.compile(r"<(@[UW][A-Z0-9]+|!subteam\^S[A-Z0-9]+|!here|!channel|!everyone)>")
_SLACK_MEMBER = re.compile(r"@?([UW](?=[A-Z]*[0-9])[A-Z0-9]{7,})")


@dataclass(frozen=True)
class Refused:
    """The service refused a message.

    Attributes
    ----------
    sentence, hint
        What happened, and what the user can do.
    verbatim
        The service's words in full; they may contain secrets.
    retry
        True if the same message may be accepted later.
    """

    sentence: Text
    hint: Text | None
    verbatim: str
    retry: bool


def body_of(message: Message, service: Service, *, keyword: str = "") -> dict[str, Any]:
    """Return the JSON of a message for a service, without a signature.

    Parameters
    ----------
    message
        The message.
    service
        The service.
    keyword
        A word that the robot expects in every message; empty for none.
    """
    match service:
        case "slack":
            return _slack(message)
        case "feishu":
            return {"msg_type": "text", "content": {"text": _plain(message, keyword)}}
        case "dingtalk":
            return _dingtalk(message, keyword)
    return _json(message)


def signed(address: str, body: dict[str, Any], service: Service, key: str, now: float) -> tuple[str, dict[str, Any]]:
    """Return the address and JSON of a request with the signature that the service expects.

    Parameters
    ----------
    address, body
        The request without a signature.
    service
        The service.
    key
        The signing key; empty for none.
    now
        The present time, in seconds since the epoch.
    """
    if not key or service not in ("feishu", "dingtalk"):
        return address, body
    if service == "feishu":
        stamp = str(int(now))
        # Feishu signs an empty text with the key `timestamp\nsecret`.
        digest = hmac.new(f"{stamp}\n{key}".encode(), b"", hashlib.sha256).digest()
        return address, {"timestamp": stamp, "sign": base64.b64encode(digest).decode(), **body}
    stamp = str(int(now * 1000))
    digest = hmac.new(key.encode(), f"{stamp}\n{key}".encode(), hashlib.sha256).digest()
    parts = urlsplit(address)
    query = [
        *parse_qsl(parts.query, keep_blank_values=True),
        ("timestamp", stamp),
        ("sign", base64.b64encode(digest).decode()),
    ]
    return urlunsplit(parts._replace(query=urlencode(query))), body


def problem_of(service: Service, status: int, content: bytes) -> Refused | None:
    """Return why a service did not accept a message; None if it did.

    Parameters
    ----------
    service
        The service.
    status
        Status of the HTTP answer.
    content
        Content of the answer.
    """
    name = SERVICE_NAMES[service]
    words = content.decode("utf-8", "replace").strip()
    if status >= 300:
        sentence = _("{service} answered {status}.", service=name, status=status)
        return Refused(sentence, _status_hint(status, words), words, retry=status == 429 or status >= 500)
    if service == "slack":
        if words == "ok":
            return None
        sentence = _("The answer is not Slack's: it must be “ok”.")
        return Refused(sentence, _("Check that the address is one of a Slack webhook."), words, retry=False)
    if service == "json":
        return None
    code, said = _code_of(content)
    if code == 0:
        return None
    if code is None:
        sentence = _("The answer is not one of {service}.", service=name)
        return Refused(sentence, _("Check the address."), words, retry=False)
    sentence = _("{service} refused the message (code {code}).", service=name, code=code)
    return Refused(sentence, _code_hint(service, code, said), said, retry=code in (9499, 11232, -1, 130101))


def _code_of(content: bytes) -> tuple[int | None, str]:
    """Return the code of a JSON answer with its words; None if there is no code."""
    try:
        answer = json.loads(content)
    except ValueError:
        return None, ""
    if isinstance(answer, dict):
        for code, words in (("code", "msg"), ("StatusCode", "StatusMessage"), ("errcode", "errmsg")):
            if isinstance(answer.get(code), int):
                return answer[code], str(answer.get(words, ""))
    return None, ""


def _status_hint(status: int, words: str) -> Text | None:
    if status in (404, 410) or "no_service" in words:
        return _("The webhook was removed, or the address is wrong. Replace the address.")
    if status in (401, 403):
        return _("The service does not accept this address. Replace the address.")
    if 300 <= status < 400:
        return _("The address leads to another one, which is not followed. Enter the final address.")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return _("The service limits the number of messages. Try again later.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return _("The service has a problem of its own. Try again later.")
    return None


def _code_hint(service: Service, code: int, words: str) -> Text | None:
    said = words.lower()
    if (service == "feishu" and code == _FEISHU_KEYWORD) or (code == _DINGTALK_REFUSED and "keyword" in said):
        return _("The robot expects a keyword in each message. Enter it as the keyword.")
    if (service == "feishu" and code == _FEISHU_KEY) or (code == _DINGTALK_REFUSED and "sign" in said):
        return _("The signing key is not the robot's, or the clock of this machine is wrong. Replace the key.")
    if (service == "feishu" and code == _FEISHU_ADDRESS) or (code == _DINGTALK_REFUSED and "ip" in said.split()):
        return _("The robot accepts other network addresses only. Add the address of this machine to the robot.")
    return None


# -- messages of the services ------------------------------------------------------------------------------------------


def _words(text: Text | None) -> str:
    return translated(text) if text is not None else ""


def _slack(message: Message) -> dict[str, Any]:
    title = _slack_text(_words(message.title), 500)
    head = f"*{title}*"
    if message.mention:
        head += f" {_slack_mention(message.mention)}"
    if message.text is not None:
        head += f"\n{_slack_text(_words(message.text), 2000)}"
    blocks = [_section(head)]
    if message.lines:
        most = _MOST_SLACK // len(message.lines) - 1
        lines = "\n".join(_slack_text(line.replace("```", "'''"), most) for line in message.lines)
        blocks.append(_section(f"```{lines}```"))
    context = [*(_words(fact) for fact in message.facts), *(_words(other.title) for other in message.others)]
    if context:
        text = _slack_text(" · ".join(context), _MOST_SLACK)
        blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": text}]})
    if message.links:
        buttons = [
            {"type": "button", "text": {"type": "plain_text", "text": _words(label)}, "url": address}
            for label, address in message.links
        ]
        blocks.append({"type": "actions", "elements": buttons})
    return {"text": title, "blocks": blocks}


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _slack_text(text: str, most: int) -> str:
    """Escape the three characters that Slack reads as markup; cut the text so that the result is not too long."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped if len(escaped) <= most else re.sub("&[a-z]*$", "", escaped[:most])


def _slack_mention(mention: str) -> str:
    """Return a mention as Slack's markup if it is a mention, or the id of a member; Slack does not resolve names."""
    mention = mention.strip()
    if _SLACK_MENTION.fullmatch(mention):
        return mention
    member = _SLACK_MEMBER.fullmatch(mention)
    return f"<@{member[1]}>" if member else _slack_text(mention, 400)


def _plain(message: Message, keyword: str) -> str:
    """Return a message as plain text, with the keyword of the robot."""
    parts = [_words(message.title), _words(message.text), " · ".join(map(_words, message.facts)), *message.lines]
    parts += [_words(other.title) for other in message.others]
    parts += [f"{_words(label)}: {address}" for label, address in message.links]
    parts.append(message.mention)
    text = "\n".join(part for part in parts if part)[:4000]
    return text if not keyword or keyword in text else f"{text}\n{keyword}"


def _dingtalk(message: Message, keyword: str) -> dict[str, Any]:
    body: dict[str, Any] = {"msgtype": "text", "text": {"content": _plain(message, keyword)}}
    number = message.mention.lstrip("@+").replace(" ", "")
    if number.isdigit():  # A robot mentions users by their phone numbers.
        body["at"] = {"atMobiles": [number], "isAtAll": False}
    return body


def _json(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "kind": message.kind or "test",
        "time": message.time,
        "title": _words(message.title),
        "text": _words(message.text),
        "facts": [_words(fact) for fact in message.facts],
        "lines": message.lines,
        "mention": message.mention,
        "links": [{"label": _words(label), "url": address} for label, address in message.links],
        **message.data,
        "others": [_json(other) for other in message.others],
    }
