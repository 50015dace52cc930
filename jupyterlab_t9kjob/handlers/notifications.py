"""Handlers of notifications: rules, the user's webhook, test messages, examples."""

from __future__ import annotations

from .base import ApiHandler, guarded


class NotificationsHandler(ApiHandler):
    """``notifications``."""

    @guarded
    async def get(self) -> None:
        """Return the settings without secrets."""
        services = await self.app.services()
        self.reply(await services.notifications.state())


class RulesHandler(ApiHandler):
    """``notifications/rules``."""

    @guarded
    async def put(self) -> None:
        """Replace the rules for messages."""
        from ..notifications.model import WebhookRules

        rules = self.read(WebhookRules)
        services = await self.app.services()
        self.reply(await services.notifications.save_rules(rules))


class WebhookHandler(ApiHandler):
    """``notifications/webhook``."""

    @guarded
    async def put(self) -> None:
        """Set or change the webhook of the user."""
        from ..notifications.model import SetWebhook

        request = self.read(SetWebhook)
        services = await self.app.services()
        self.reply(await services.notifications.set_webhook(request))

    @guarded
    async def delete(self) -> None:
        """Delete the webhook of the user."""
        services = await self.app.services()
        await services.notifications.delete_webhook()
        self.set_status(204)


class TestHandler(ApiHandler):
    """``notifications/test``."""

    @guarded
    async def post(self) -> None:
        """Send a test message, and return the answer."""
        from ..notifications.model import TestWebhook

        request = self.read(TestWebhook)
        services = await self.app.services()
        self.reply(await services.notifications.test(request.id))


class NoticePreviewHandler(ApiHandler):
    """``notifications/preview``."""

    @guarded
    async def post(self) -> None:
        """Return an example of a message."""
        from ..notifications.model import PreviewNotice

        request = self.read(PreviewNotice)
        services = await self.app.services()
        self.reply(services.notifications.preview(request))
