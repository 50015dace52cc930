"""The loop: watches jobs and their pods, and does for each job what its plan says."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import httpx

from .api import GROUP, Api, Object, Refused
from .pods import NOTE, Replica, build_pod, build_service, dependent_name, owner
from .status import Plan, Planner, parse, stamp

log = logging.getLogger("t9k-test-controller")

JOBS = f"/apis/{GROUP}/v1beta1"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/t9k-test-controller"
LEASE_SECONDS = 10
RETRY_SECONDS = 2
"""Interval between the attempts of a waiting controller to take the lease; each is a request."""
Key = tuple[str, str]


def now() -> datetime:
    return datetime.now(timezone.utc)


class Lease:
    """Lease that selects the active one of several running controllers."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._name = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"

    async def try_hold(self, by_force: bool = False) -> bool:
        """Get or keep the lease; returns whether it is ours for the next `LEASE_SECONDS`."""
        spec = {
            "holderIdentity": self._name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": now().strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        }
        there = await self._api.find(LEASE)
        try:
            if there is None:
                name = {"name": LEASE.rsplit("/", 1)[1]}
                await self._api.ask("POST", LEASE.rsplit("/", 1)[0], {"metadata": name, "spec": spec})
                return True
            held = there["spec"]
            fresh = now() < parse(held["renewTime"]) + timedelta(seconds=LEASE_SECONDS)
            if held.get("holderIdentity") not in (self._name, "") and fresh and not by_force:
                return False
            await self._api.ask("PUT", LEASE, {**there, "spec": spec})
            return True
        except Refused as error:
            if error.status == 409:
                return False
            raise

    async def release(self) -> None:
        there = await self._api.find(LEASE)
        if there and there["spec"].get("holderIdentity") == self._name:
            with contextlib.suppress(Refused):
                await self._api.ask("PUT", LEASE, {**there, "spec": {**there["spec"], "holderIdentity": ""}})


class Controller:
    """Serves all PyTorchTrainingJobs of a cluster."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._waiting: dict[Key, asyncio.Event] = {}
        self._workers: dict[Key, asyncio.Task[None]] = {}
        self._leaving: set[str] = set()  # pods whose restart is counted

    async def run(self, take_over: bool = False, working: Callable[[], None] = lambda: None) -> None:
        """Work while the lease is ours, wait while it is another's."""
        lease = Lease(self._api)
        try:
            while True:
                if await self._holds(lease, take_over):
                    log.info("working")
                    take_over = False
                    working()
                    watching = asyncio.gather(self._watch_jobs(), self._watch_pods())
                    try:
                        while await self._holds(lease):
                            await asyncio.wait([watching], timeout=LEASE_SECONDS / 5)
                            if watching.done():
                                watching.result()
                    finally:
                        await cancel(watching, *self._workers.values())
                        self._workers.clear()
                    log.info("another one works now")
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            with contextlib.suppress(httpx.HTTPError, Refused):
                await lease.release()

    @staticmethod
    async def _holds(lease: Lease, by_force: bool = False) -> bool:
        try:
            return await lease.try_hold(by_force)
        except (httpx.HTTPError, Refused) as error:
            log.warning("no lease: %s", error or type(error).__name__)
            if "CERTIFICATE" in str(error) or getattr(error, "status", 0) == 401:
                raise  # another cluster stands where the kubeconfig's was
            return False

    # -- what calls for a look at a job ----------------------------------------------------------------------------

    async def _watch_jobs(self) -> None:
        async for job in self._api.watch(f"{JOBS}/pytorchtrainingjobs"):
            self._look(job["metadata"]["namespace"], job["metadata"]["name"])

    async def _watch_pods(self) -> None:
        async for pod in self._api.watch("/api/v1/pods", labelSelector="tensorstack.dev/owner-name,replica-type"):
            for reference in pod["metadata"].get("ownerReferences", []):
                if reference["kind"] == "PyTorchTrainingJob":
                    self._look(pod["metadata"]["namespace"], reference["name"])

    def _look(self, namespace: str, name: str) -> None:
        key = (namespace, name)
        self._waiting.setdefault(key, asyncio.Event()).set()
        if key not in self._workers or self._workers[key].done():
            self._workers[key] = asyncio.create_task(self._work(key))

    async def _work(self, key: Key) -> None:
        """Look after one job for as long as it is there."""
        pause = 0.1
        while True:
            self._waiting[key].clear()
            try:
                wake = await self._reconcile(*key)
                pause = 0.1
            except (Refused, httpx.HTTPError) as error:
                if not (isinstance(error, Refused) and error.status == 409):
                    log.warning("%s/%s: %s", *key, error or type(error).__name__)
                wake, pause = now() + timedelta(seconds=pause), min(pause * 2, 10)
            except Exception:
                log.exception("%s/%s", *key)
                wake, pause = now() + timedelta(seconds=pause), min(pause * 2, 10)
            if wake is None and not self._waiting[key].is_set():
                return  # whoever sees something new starts the next one
            with contextlib.suppress(asyncio.TimeoutError):
                left = max(0.0, (wake - now()).total_seconds()) if wake else None
                await asyncio.wait_for(self._waiting[key].wait(), left)
            await asyncio.sleep(0.05)  # what comes together is looked at once

    # -- one look ----------------------------------------------------------------------------------------------------

    async def _reconcile(self, namespace: str, name: str) -> datetime | None:
        """Bring one job nearer to what it should be; returns when to look again without being asked."""
        home = f"/api/v1/namespaces/{namespace}"
        job = await self._api.find(f"{JOBS}/namespaces/{namespace}/pytorchtrainingjobs/{name}")
        if job is None or "deletionTimestamp" in job["metadata"]:
            return None
        space = await self._api.ask("GET", home)
        notes = {**space["metadata"].get("annotations", {}), **job["metadata"].get("annotations", {})}
        if notes.get(NOTE + "ignore") == "true":
            return None
        selector = f"tensorstack.dev/owner-name={name}"
        listed = await self._api.ask("GET", f"{home}/pods", labelSelector=selector)
        pods = [pod for pod in listed["items"] if owned(pod, job)]
        plan = Planner(job, pods, self._leaving, lambda key, default: notes.get(NOTE + key, default), now()).plan()
        if "tensorboardSpec" in job["spec"]:
            plan.status["tensorboard"] = await self._tensorboard(job)
        if not job.get("status"):
            await self._event(job, "Normal", "Created", f"A PyTorchTrainingJob has been created: {name}")
        if plan.status != job.get("status"):
            path = f"{JOBS}/namespaces/{namespace}/pytorchtrainingjobs/{name}/status"
            await self._api.ask("PUT", path, {**job, "status": plan.status})
            counts = {key: count for key, count in plan.status["aggregate"].items() if count}
            log.info("%s/%s: %s %s", namespace, name, plan.status["phase"], counts)
        for kind, reason, message in plan.events:
            await self._event(job, kind, reason, message)
        for pod in plan.delete:
            uid = pod["metadata"]["uid"]
            self._leaving.add(uid)
            await self._api.delete(f"{home}/pods/{pod['metadata']['name']}", uid)
        return await self._create(job, plan, notes)

    async def _create(self, job: Object, plan: Plan, notes: Object) -> datetime | None:
        """Make the pods that are missing; one that is refused is tried again later."""
        home = f"/api/v1/namespaces/{job['metadata']['namespace']}"
        if not plan.create:
            return plan.wake
        try:
            await self._api.ask("POST", f"{home}/services", build_service(job))
        except Refused as error:
            if error.status != 409:
                raise
        refused = False
        for replica in plan.create:
            first = not any(replica.name in str(task) for task in job.get("status", {}).get("tasks", []))
            refused |= not await self._create_pod(job, replica, plan.resumed, notes, first)
        if not refused:
            return plan.wake
        again = now() + timedelta(seconds=5)
        return min(again, plan.wake) if plan.wake else again

    async def _create_pod(self, job: Object, replica: Replica, resumed: bool, notes: Object, first: bool) -> bool:
        home = f"/api/v1/namespaces/{job['metadata']['namespace']}"
        try:
            await self._api.ask("POST", f"{home}/pods", build_pod(job, replica, resumed, notes))
        except Refused as error:
            if error.status == 409:  # the one before is not gone yet; its going calls
                return True
            await self._event(job, "Warning", "FailedCreate", f"Error creating replica[{replica.name}]: {error}")
            return False
        if first:
            await self._event(job, "Normal", "NewReplica", f"Create the replica[{replica.name}] for the first time.")
        return True

    async def _tensorboard(self, job: Object) -> Object:
        """The TensorBoard of the job, made if it is not there; no pod comes of it."""
        namespace, name = job["metadata"]["namespace"], dependent_name(job)
        path = f"/apis/tensorstack.dev/v1beta1/namespaces/{namespace}/tensorboards"
        board = await self._api.find(f"{path}/{name}")
        if board is None:
            kind = {"apiVersion": "tensorstack.dev/v1beta1", "kind": "TensorBoard"}
            meta = {"name": name, "ownerReferences": [owner(job)]}
            board = await self._api.ask(
                "POST", path, {**kind, "metadata": meta, "spec": job["spec"]["tensorboardSpec"]}
            )
            url = f"/t9k/tensorboards/projects/{namespace}/name/{name}/"
            ready = {
                "type": "Ready",
                "status": "True",
                "reason": "-",
                "message": "",
                "lastTransitionTime": stamp(now()),
            }
            status = {"phase": "Running", "url": url, "conditions": [ready]}
            await self._api.ask("PUT", f"{path}/{name}/status", {**board, "status": status})
        dependent = {"apiVersion": board["apiVersion"], "kind": board["kind"], "name": name, "namespace": namespace}
        return {
            "name": name,
            "dependent": {**dependent, "uid": board["metadata"]["uid"]},
            "ready": True,
            "reason": "DependentReady",
            "action": "NOP",
            "note": "",
            "type": "Normal",
        }

    async def _event(self, job: Object, kind: str, reason: str, message: str) -> None:
        """Record an event on the job; the same one again counts up."""
        meta = job["metadata"]
        digest = hashlib.sha1(f"{meta['uid']} {reason} {message}".encode()).hexdigest()[:16]
        path, name, time = f"/api/v1/namespaces/{meta['namespace']}/events", f"{meta['name']}.{digest}", stamp(now())
        there = await self._api.find(f"{path}/{name}")
        if there is not None:
            await self._api.ask("PATCH", f"{path}/{name}", {"count": there["count"] + 1, "lastTimestamp": time})
            return
        about = {key: job[key] for key in ("apiVersion", "kind")} | {
            key: meta[key] for key in ("namespace", "name", "uid")
        }
        event = {
            "metadata": {"name": name},
            "involvedObject": about,
            "type": kind,
            "reason": reason,
            "message": message,
        }
        event |= {"count": 1, "firstTimestamp": time, "lastTimestamp": time, "source": {"component": log.name}}
        await self._api.ask("POST", path, event)


def owned(pod: Object, job: Object) -> bool:
    return any(reference["uid"] == job["metadata"]["uid"] for reference in pod["metadata"].get("ownerReferences", []))


async def cancel(*tasks: asyncio.Future) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
