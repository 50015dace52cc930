"""Accounts with chosen rights."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from tests.kubernetes.harness import Kube, Right

Rule = dict[str, Any]


class Account:
    """A ServiceAccount and its Role."""

    def __init__(self, kube: Kube, name: str, folder: Path) -> None:
        self._kube, self._name = kube, name
        self._had: set[Right] = set()
        self._has_everywhere: set[Right] = set()
        self._make(kube, "serviceaccounts", {})
        self.bind(kube)
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        token = kube.ask("POST", kube.path("serviceaccounts", name, "token"), asked)["status"]["token"]
        config = yaml.safe_load(kube.kubeconfig.read_text())
        config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
        self.kubeconfig = folder / name
        self.kubeconfig.write_text(yaml.safe_dump(config))

    def bind(self, kube: Kube, *rules: Rule) -> None:
        """Give it a Role in a namespace."""
        name = self._name
        self._make(kube, "roles", {"rules": list(rules)})
        subject = {"kind": "ServiceAccount", "name": name, "namespace": self._kube.namespace}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
        self._make(kube, "rolebindings", {"subjects": [subject], "roleRef": reference})
        kube.until_may(self._kube.account(name), dict.fromkeys(rights(*rules), True))

    def _make(self, kube: Kube, kind: str, body: Rule) -> None:
        """Create an object of the account's name; one that a test left which is repeated now is replaced."""
        kube.delete(kind, self._name)
        kube.create(kind, {"metadata": {"name": self._name}, **body})

    async def may(self, *rules: Rule) -> None:
        """Give it these rights, and take all others away; so it is on return."""
        await asyncio.to_thread(self._kube.patch, "roles", self._name, {"rules": list(rules)})
        has = set(rights(*rules))
        wanted = {right: right in has for right in has | self._had}
        await asyncio.to_thread(self._kube.until_may, self._kube.account(self._name), wanted)
        self._had = has

    def everywhere(self, *rules: Rule) -> None:
        """Give it a ClusterRole, until `leave`."""
        name = f"{self._kube.namespace}-{self._name}"
        self._kube.create("clusterroles", {"metadata": {"name": name}, "rules": list(rules)})
        subject = {"kind": "ServiceAccount", "name": self._name, "namespace": self._kube.namespace}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        body = {"metadata": {"name": name}, "subjects": [subject], "roleRef": reference}
        self._kube.create("clusterrolebindings", body)
        self._has_everywhere = set(rights(*rules))
        self._until_everywhere(held=True)

    def leave(self) -> None:
        """Take away what it may do in the whole cluster."""
        for kind in ("clusterrolebindings", "clusterroles"):
            self._kube.delete(kind, f"{self._kube.namespace}-{self._name}")
        self._until_everywhere(held=False)

    def _until_everywhere(self, *, held: bool) -> None:
        wanted = dict.fromkeys(self._has_everywhere, held)
        self._kube.until_may(self._kube.account(self._name), wanted, everywhere=True)


def rights(*rules: Rule) -> Iterator[Right]:
    """Yield the rights that rules give."""
    for rule in rules:
        yield from product(rule["verbs"], rule["apiGroups"], rule["resources"])
