"""Run the controller till it is told to stop."""

import argparse
import asyncio
import contextlib
import logging
import signal

from . import crd
from .api import Api
from .controller import Controller


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kubernetes.controller", description=__doc__)
    parser.add_argument(
        "--install",
        choices=["current", "older", "none"],
        default="current",
        help="the dialect of the CRDs to install first",
    )
    parser.add_argument("--take-over", action="store_true", help="work at once, even if another controller does")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    api = Api()
    if args.install != "none":
        await crd.install(api, args.install)
    running = asyncio.ensure_future(Controller(api).run(args.take_over, lambda: print("working", flush=True)))
    for sign in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sign, running.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await running
    await api.close()


if __name__ == "__main__":
    asyncio.run(main())
