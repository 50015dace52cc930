"""Files of notifications in the extension's home: rules, the user's webhook, and the ledger of messages."""

from __future__ import annotations

import json
import logging
from collections.abc import Container
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, Field, ValidationError

from ..core.system.files import open_regular, write_atomically
from ..core.translation import STORED
from .model import Delivery, Service, WebhookRules
from .webhooks import Target

log = logging.getLogger(__name__)

FOLDER: Final = "notifications"
KEPT_SECONDS: Final = 48 * 3600.0
"""Time for which the ledger keeps an event. Messages are sent for half of this time."""
_MOST_BYTES: Final = 4 << 20

SomeModel = TypeVar("SomeModel", bound=BaseModel)


class StoredWebhook(BaseModel):
    """The user's own webhook with its secrets."""

    service: Service
    address: str
    key: str = ""
    keyword: str = ""
    since: float = Field(0.0, description="Time at which it was set; earlier events are not sent.")

    @property
    def target(self) -> Target:
        """The webhook as a target."""
        return Target("own", self.service, self.address, self.key, self.keyword)


class Entry(BaseModel):
    """Delivery of one event to one webhook: its state and the number of tries."""

    time: float = Field(description="When the event was first seen.")
    state: str = Field("open", description="open, sent, failed, or skipped")
    tries: int = 0
    next_try: float = 0.0


class Ledger(BaseModel):
    """The events of the last two days, by webhook and key of the event, and each webhook's last message."""

    begun: float = Field(0.0, description="When the ledger was begun; earlier events are not sent.")
    entries: dict[str, dict[str, Entry]] = Field(default_factory=dict)
    last: dict[str, Delivery] = Field(default_factory=dict)

    def forget_old(self, now: float, present: Container[str]) -> None:
        """Remove events that are older than `KEPT_SECONDS`, except those that still hold.

        Parameters
        ----------
        now
            The present time, in seconds since the epoch.
        present
            Keys of the events that hold.
        """
        for known in self.entries.values():
            for key in [key for key, entry in known.items() if entry.time < now - KEPT_SECONDS]:
                if key not in present:
                    del known[key]


class NotificationStore:
    """The files. All methods block. Their folder is private to the user.

    Parameters
    ----------
    home
        Directory of the extension's records.
    begun
        Time at which a new ledger begins, in seconds since the epoch.
    """

    def __init__(self, home: Path, begun: float) -> None:
        self.folder = home / FOLDER
        self._begun = begun
        self._seen: dict[str, tuple[str, Any]] = {}

    def settings(self) -> tuple[WebhookRules, StoredWebhook | None]:
        """Return the user's rules, the default without any, and own webhook, None without one.

        Another server of the home may have changed them. A file that has not changed is not read again.
        """
        return self._fresh("rules.json", WebhookRules) or WebhookRules(), self._fresh("webhook.json", StoredWebhook)

    def save_rules(self, rules: WebhookRules) -> None:
        """Replace the rules."""
        self._write("rules.json", rules)

    def save_webhook(self, webhook: StoredWebhook) -> None:
        """Replace the user's own webhook."""
        self._write("webhook.json", webhook)

    def delete_webhook(self) -> None:
        """Delete the user's own webhook."""
        (self.folder / "webhook.json").unlink(missing_ok=True)

    def ledger(self) -> Ledger:
        """Return the ledger; a new one if there is none or it can't be read."""
        return self._read("ledger.json", Ledger) or Ledger(begun=self._begun)

    def save_ledger(self, ledger: Ledger) -> None:
        """Replace the ledger."""
        self._write("ledger.json", ledger)

    def make_folder(self) -> None:
        """Make the folder of the files."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _write(self, name: str, model: BaseModel) -> None:
        self.make_folder()
        write_atomically(self.folder / name, model.model_dump_json(context=STORED).encode())

    def _fresh(self, name: str, model: type[SomeModel]) -> SomeModel | None:
        """Return what a file contains now; what it contained before if the disk has an error."""
        path = self.folder / name
        value: SomeModel | None
        before, value = self._seen.get(name, ("", None))
        try:
            found = path.stat()
            state = f"{found.st_ino} {found.st_mtime_ns} {found.st_size}"
            if state != before:
                value = self._load(path, model)
        except FileNotFoundError:
            state, value = "", None
        except OSError as error:
            state = str(error)
            if state != before:
                log.warning("%s can't be read; what it contained before is used: %s", path, error)
        self._seen[name] = (state, value)
        return value

    def _read(self, name: str, model: type[SomeModel]) -> SomeModel | None:
        path = self.folder / name
        try:
            return self._load(path, model)
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("%s can't be read and is not used: %s", path, error)
            return None

    @staticmethod
    def _load(path: Path, model: type[SomeModel]) -> SomeModel | None:
        try:
            with open_regular(path) as file:
                content: Any = json.loads(file.read(_MOST_BYTES))
            return model.model_validate(content)
        except ValueError as error:
            # The text of a validation error contains the values, which may be secrets.
            words = type(error).__name__ if isinstance(error, ValidationError) else str(error)
            log.warning("%s can't be read and is not used: %s", path, words)
            return None
