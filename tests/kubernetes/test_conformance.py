"""The engines of a cluster are held to one suite, see `tests.conformance`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import NotAllowed, Unavailable
from jupyterlab_t9kjob.core.spec import JobSpec
from tests.conformance import Subject, hold, kinds
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import MOUNT, serving
from tests.kubernetes.harness import Kube, Volume

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow", "trainer")]
each = pytest.mark.parametrize("engine", kinds())


@each
async def test_it_holds_the_suite(engine: str, kube: Kube, volume: Volume, image: str, tmp_path: Path) -> None:
    kind = kinds()[engine]
    async with serving(kube, image, tmp_path, volume, kinds={engine: kind}) as bench:
        chosen = kind()

        def training(program: str) -> JobSpec:
            return bench.training(bench.script(program, f"ranks_{engine}.py"))

        def create(manifest: dict[str, Any]) -> dict[str, Any]:
            objects = f"/apis/{chosen.group}/{chosen.version}/namespaces/{kube.namespace}/{chosen.plural}"
            made: dict[str, Any] = kube.ask("POST", objects, manifest)
            return made

        subject = Subject(
            bench.engines[engine], kube.namespace, bench.spec, training, volume.path, MOUNT, chosen, create
        )
        await hold(subject)


@each
async def test_rights(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    """An account without any right creates nothing, and a sentence says which permission it lacks."""
    account = await asyncio.to_thread(Account, kube, f"weak-{engine}", tmp_path)
    kind = kinds()[engine]
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig, kinds={engine: kind}) as bench:
        with pytest.raises((NotAllowed, Unavailable), match=r"You don't have permission to .*create") as refused:
            await bench.submit(engine, bench.spec())
        account_named = f"can give the service account weak-{engine} of namespace" in (refused.value.hint or "")
        assert account_named or isinstance(refused.value, Unavailable)
