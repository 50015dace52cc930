"""A namespace with a volume for a browser test, as long as standard input is open; says on a line of JSON where it is.

python -m tests.ui.helpers.cluster     # from the repository's root, with KUBECONFIG
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import uuid
from pathlib import Path

import yaml

from tests.kubernetes.accounts import Account
from tests.kubernetes.harness import ROOT, ControllerProcess, Kube, Volumes

RIGHTS = ROOT / "examples" / "kubernetes" / "rbac.yaml"
QUOTA = {"metadata": {"name": "team"}, "spec": {"hard": {"requests.nvidia.com/gpu": "4"}}}
FOLDER = os.environ.get("T9KJOB_TEST_VOLUMES", "/var/lib/t9kjob-cluster/volumes")


def main() -> None:
    kubeconfig = Path(os.environ["KUBECONFIG"])
    with tempfile.TemporaryDirectory() as folder:
        cluster = Kube(kubeconfig, "kube-system", Path(folder))
        name = f"t-ui-{uuid.uuid4().hex[:5]}"
        cluster.create("namespaces", {"metadata": {"name": name}})
        kube = Kube(kubeconfig, name, Path(folder))
        volumes = Volumes(kube, Path(FOLDER))
        controller = ControllerProcess(cluster, Path(folder) / "controller")
        try:
            kube.until("serviceaccounts", "default", lambda account: account is not None)
            volume = volumes.make("data")
            kube.create("resourcequotas", QUOTA)
            account = Account(kube, "little", Path(folder))
            role = next(part for part in yaml.safe_load_all(RIGHTS.read_text()) if part["kind"] == "Role")
            asyncio.run(account.may(*role["rules"]))
            controller.ensure()
            place = {
                "namespace": name,
                "kubeconfig": str(kube.kubeconfig),
                "little": str(account.kubeconfig),
                "claim": volume.claim,
                "folder": str(volume.path),
                "image": os.environ.get("T9KJOB_TEST_IMAGE", "test.local/torch:cpu"),
            }
            print(json.dumps(place), flush=True)
            sys.stdin.read()
        finally:
            for kind in ("pytorchtrainingjobs", "pytorchjobs"):
                kube.ask("DELETE", kube.path(kind))
            kube.ask("DELETE", kube.path("pods"), {"gracePeriodSeconds": 0})
            volumes.remove()
            cluster.delete("namespaces", name)
            controller.stop()


if __name__ == "__main__":
    main()
