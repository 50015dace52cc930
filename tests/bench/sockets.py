"""Counts the watches and log streams that one page and many pages have open, from the API server's audit log."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from quiet import namespace

from tests.kubernetes.accounts import Account
from tests.kubernetes.test_cost import EVERYTHING, cost
from tests.kubernetes.test_log_lab import counting_job, found
from tests.local.lab import Lab


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100, help="that show the jobs, and as many that show a log")
    parser.add_argument("--image", default="test.local/torch:cpu", help="any with Python")
    arguments = parser.parse_args()
    with namespace() as kube, tempfile.TemporaryDirectory() as folder:
        account = Account(kube, "counted", Path(folder))
        account.everywhere(EVERYTHING)
        lab = Lab(Path(folder), environment={"KUBECONFIG": str(account.kubeconfig)})
        try:
            lab.start()
            kube.create("pytorchjobs", counting_job("counts", arguments.image, 100_000, 0.02))
            lab.until_available("kubeflow")
            ident = found(lab, "counts")
            for pages in (1, arguments.pages):
                watches, logs = asyncio.run(cost(kube, lab, ident, pages))
                print(
                    f"{pages} pages with the sidebar, {pages} with a log of one container:"
                    f" {sum(watches.values())} watches on {len(watches)} collections, {sum(logs.values())} log streams"
                )
                for path, count in sorted(watches.items()):
                    print(f"  {count} × {path}")
        finally:
            lab.kill()
            account.leave()


if __name__ == "__main__":
    main()
