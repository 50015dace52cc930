"""The API's models of notifications."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from ..core.job import Time
from ..core.notices import NoticeKind
from ..core.spec import Model
from ..core.translation import Text

Service = Literal["slack", "feishu", "dingtalk", "json"]
Address = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
Minutes = Annotated[int, Field(ge=1, le=100_000)]


class WebhookRules(Model):
    """Rules of webhooks: the events to send, and the contents of a message."""

    kinds: list[NoticeKind] = Field(
        default=["failed", "no_progress", "paused", "succeeded_late", "sweep_ended"],
        max_length=20,
        description="Events to send.",
    )
    late_minutes: Minutes = Field(10, description="A success after more minutes than these is `succeeded_late`.")
    waiting_minutes: Minutes = Field(30, description="A job that is pending for more minutes than these is `waiting`.")
    mention: str = Field(
        "",
        max_length=80,
        description="User to mention when a job fails: “@lin”, a phone number in DingTalk, a member ID in Slack.",
    )
    lines: bool = Field(True, description="True to send the last lines before a failure.")
    arguments: bool = Field(False, description="True to send the arguments of the job.")
    lab_address: str = Field("", max_length=2000, description="Address of the lab, for links; empty for no links.")


class SetWebhook(Model):
    """The user's own webhook. Its address and key are secrets, which no answer returns."""

    service: Service
    address: Address | None = Field(None, description="Null to keep the present address.")
    key: str | None = Field(
        None, max_length=500, description="Signing key of Feishu or DingTalk; empty for none, null to keep the present."
    )
    keyword: str = Field("", max_length=80, description="Keyword that the robot of the service expects in a message.")


class Delivery(Model):
    """A message that was sent, or could not be sent."""

    ok: bool
    time: Time
    sentence: Text = Field(description="“Slack answered 200 in 0.4 s.”")
    hint: Text | None = None
    verbatim: str | None = Field(None, description="The service's own words.")
    title: Text | None = Field(None, description="Title of the message; null for a test.")


class Webhook(Model):
    """A webhook, without its secrets."""

    id: str = Field(description="“own”, or “admin-1” for the first one of the administrator.")
    service: Service
    name: str = Field("", description="Name that the administrator gave.")
    ends_with: str = Field(description="The last four characters of the address.")
    host: str = Field(description="Host of the address.")
    has_key: bool = False
    keyword: str = ""
    locked: bool = Field(False, description="True for a webhook of the administrator.")
    last: Delivery | None = Field(None, description="The last message; null before the first.")


class Notifications(Model):
    """Settings of notifications that the server keeps."""

    rules: WebhookRules
    webhooks: list[Webhook]
    problems: list[Text] = Field(default_factory=list, description="Webhooks of the administrator with an error.")


class TestWebhook(Model):
    """A request for a test message."""

    id: str = Field("own", max_length=20)


class PreviewNotice(Model):
    """A request for an example of a message."""

    kind: NoticeKind = "failed"
    service: Service = "json"
    keyword: str = Field("", max_length=80)
    rules: WebhookRules = WebhookRules()


class NoticePreview(Model):
    """An example of a message, and the JSON that is sent."""

    title: Text
    text: Text | None = None
    facts: list[Text] = Field(default_factory=list)
    lines: list[str] = Field(default_factory=list)
    mention: str = ""
    links: list[Text] = Field(default_factory=list, description="Labels of the links.")
    body: dict[str, Any] = Field(description="The JSON of the request; signatures are left out.")
    size: int = Field(description="Size of the JSON in bytes.")
