"""Sends a message to a webhook. The address and the key are secrets: no log and no answer contains them."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx

from ..core.errors import FieldError
from ..core.translation import Text, _
from .formats import SERVICE_NAMES, Refused, body_of, problem_of, signed
from .messages import Message
from .model import Delivery, Service
from .redaction import redacted

SECONDS = 10.0
"""Time within which a webhook must answer."""
MOST_ANSWER = 16_384
"""Bytes of an answer that are read."""
MOST_VERBATIM = 500
"""Characters of an answer that are kept."""


class _NoAddresses(logging.Filter):
    """Drops httpx's line about each request, which contains the address."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING


logging.getLogger("httpx").addFilter(_NoAddresses())


@dataclass(frozen=True)
class Target:
    """A webhook with its secrets.

    Attributes
    ----------
    id
        “own”, or “admin-1”.
    service
        The service.
    address, key
        The secrets; the key is empty if the service needs none.
    keyword
        Word that the robot expects in each message.
    name
        Name that the administrator gave.
    locked
        True for a webhook of the administrator.
    """

    id: str
    service: Service
    address: str
    key: str = ""
    keyword: str = ""
    name: str = ""
    locked: bool = False

    def __repr__(self) -> str:
        return f"Target({self.id}, {self.service}, …{self.ends_with})"

    @property
    def ends_with(self) -> str:
        """The last four characters of the address, or fewer if the address is short."""
        return self.address[-4:] if len(self.address) >= 16 else ""

    @property
    def host(self) -> str:
        """Host of the address."""
        return urlsplit(self.address).hostname or ""


@dataclass(frozen=True)
class Outcome:
    """Result of one try to send a message; `retry` is True if another try may succeed."""

    delivery: Delivery
    retry: bool


def check_address(address: str) -> str:
    """Return an address without surrounding spaces.

    Raises
    ------
    FieldError
        If it is no address of a web server. The error does not contain the address.
    """
    address = address.strip()
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("https", "http") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        valid = False
    if not valid or not address.isprintable() or " " in address:
        raise FieldError(
            _("This is not the address of a webhook."),
            field="/address",
            hint=_("Enter an address that begins with https://."),
        )
    if parts.username is not None or parts.password is not None:
        raise FieldError(
            _("The address contains a user name or a password."),
            field="/address",
            hint=_("Use a webhook whose address is its only secret."),
        )
    return address


def check_lab_address(address: str) -> None:
    """Check the address of the lab, which messages link to.

    Raises
    ------
    FieldError
        If it is no address of a web server, or contains a password or a token.
    """
    parts = urlsplit(address)
    clean = not (parts.username or parts.password or parts.query or parts.fragment)
    if address and (parts.scheme not in ("https", "http") or not parts.netloc or not clean):
        raise FieldError(_("This is not the address of a lab."), field="/lab_address")


async def send(target: Target, message: Message) -> Outcome:
    """Send a message once.

    Parameters
    ----------
    target
        The webhook.
    message
        The message.
    """
    body = body_of(message, target.service, keyword=target.keyword)
    address, body = signed(target.address, body, target.service, target.key, time.time())
    begun = time.monotonic()
    try:
        with anyio.fail_after(SECONDS):
            status, content = await _post(address, body, message.id)
    except TimeoutError:
        hint = _("The machine of the lab may not reach the address. It uses the proxy of HTTPS_PROXY, if that is set.")
        return _failed(_("No answer within {seconds} s.", seconds=int(SECONDS)), hint, None, message)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return _failed(*_unreachable(error, target.host), message)
    took = f"{time.monotonic() - begun:.1f}"
    problem: Refused | None = problem_of(target.service, status, content)
    if problem is not None:
        # A service, or a proxy, may repeat the request in its answer. Words that are cut before may end in a secret.
        words = await asyncio.to_thread(redacted, problem.verbatim, [target.address, address], target.key)
        delivery = _delivery(problem.sentence, problem.hint, words[:MOST_VERBATIM] or None, message, ok=False)
        return Outcome(delivery, problem.retry)
    name = SERVICE_NAMES[target.service]
    sentence = _("{service} answered {status} in {seconds} s.", service=name, status=status, seconds=took)
    return Outcome(_delivery(sentence, None, None, message, ok=True), retry=False)


async def _post(address: str, body: object, ident: str) -> tuple[int, bytes]:
    headers = {"Content-Type": "application/json", "Idempotency-Key": ident, "User-Agent": "jupyterlab_t9kjob"}
    data = json.dumps(body, allow_nan=False, default=str).encode()
    content = b""
    async with (
        httpx.AsyncClient(follow_redirects=False, timeout=SECONDS) as client,
        client.stream("POST", address, content=data, headers=headers) as answer,
    ):
        async for part in answer.aiter_bytes():
            content += part
            if len(content) > MOST_ANSWER:
                break
        return answer.status_code, content[:MOST_ANSWER]


def _unreachable(error: Exception, host: str) -> tuple[Text, Text | None, str | None]:
    """Return sentence, hint and the system's words for an error of the connection."""
    words = str(error) if isinstance(error, (httpx.ConnectError, OSError)) else type(error).__name__
    if "CERTIFICATE" in words:
        sentence = _("The certificate of {host} is not trusted.", host=host)
        return sentence, _("Set SSL_CERT_FILE for the server of the lab to a file with the authority."), words[:300]
    if isinstance(error, httpx.ProxyError):
        return _("The proxy does not connect to {host}.", host=host), None, words[:300]
    sentence = _("The connection to {host} failed.", host=host)
    hint = _("Check the address, and that the machine of the lab may reach it.")
    return sentence, hint, words[:300]


def _failed(sentence: Text, hint: Text | None, words: str | None, message: Message) -> Outcome:
    return Outcome(_delivery(sentence, hint, words, message, ok=False), retry=True)


def _delivery(sentence: Text, hint: Text | None, words: str | None, message: Message, *, ok: bool) -> Delivery:
    title = message.title if message.kind is not None else None
    return Delivery(ok=ok, time=time.time(), sentence=sentence, hint=hint, verbatim=words, title=title)


def targets_of(entries: object) -> tuple[list[Target], list[Text]]:
    """Return the administrator's webhooks from the setting `webhooks`, and what is wrong with the others.

    Parameters
    ----------
    entries
        List of {service, address, key, keyword, name}.
    """
    targets: list[Target] = []
    problems: list[Text] = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [], 1):
        fields = entry if isinstance(entry, dict) else {}
        unknown = set(fields) - {"service", "address", "key", "keyword", "name"}
        service = fields.get("service", "json")
        texts = all(isinstance(value, str) for value in fields.values())
        if not texts or unknown or service not in SERVICE_NAMES or "address" not in fields:
            problems.append(_("Webhook {number} of the administrator is not valid.", number=number))
            continue
        try:
            address = check_address(fields["address"])
        except FieldError:
            problems.append(_("The address of webhook {number} of the administrator is not valid.", number=number))
            continue
        targets.append(
            Target(
                id=f"admin-{number}",
                service=service,
                address=address,
                key=fields.get("key", ""),
                keyword=fields.get("keyword", ""),
                name=fields.get("name", "")[:80],
                locked=True,
            )
        )
    return targets, problems
