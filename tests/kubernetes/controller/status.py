"""Computes a job's status (Status, States) and the changes of its pods (Success and failure). Needs no cluster."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from .api import Object
from .pods import Replica, node_range, replicas, switched_on

RETRYABLE = (130, 137, 138, 143)
DONE = ("Succeeded", "Failed")


def stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def parse(time: str) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone(timezone.utc)


@dataclass
class Plan:
    """The next actions of the controller."""

    status: Object
    create: list[Replica] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    events: list[tuple[str, str, str]] = field(default_factory=list)
    wake: datetime | None = None
    resumed: bool = False


class Planner:
    """Decides for one job.

    Parameters
    ----------
    job
        As the API server has it.
    pods
        Those that it owns.
    leaving
        The uids of pods whose restart has been counted already.
    choice
        The value of an annotation by its name and a default.
    now
        The time.
    """

    def __init__(self, job: Object, pods: list[Object], leaving: set[str], choice, now: datetime) -> None:
        self._job, self._spec = job, job["spec"]
        self._choice, self._now = choice, now
        self._status = copy.deepcopy(job.get("status") or {})
        self._conditions = {c["type"]: c for c in self._status.get("conditions", [])}
        self._places = replicas(job)
        self._pods = {pod["metadata"]["name"]: pod for pod in pods}
        self._leaving = {p["metadata"]["uid"] for p in pods if "deletionTimestamp" in p["metadata"]} | leaving
        self._restarts = {task["type"]: task.get("restartCount", 0) for task in self._status.get("tasks", [])}
        self._backoff = self._status.get("backoffCount", 0)
        self._failures: list[str] = []
        self._plan = Plan(self._status)

    def plan(self) -> Plan:
        plan = self._plan
        if not self._status:
            plan.events.append(("Normal", "Start", "The job has been initialized successfully."))
            self._set("Initialized", True, "-", "The job has been initialized successfully.")
        ended = self._status.get("phase") in DONE
        if ended:
            self._clean_up()
        elif switched_on(self._spec.get("runMode", {}).get("pause")):
            self._pause()
        else:
            self._run()
        self._report(gone="Deleted" if self._status["phase"] in (*DONE, "Paused") else "Creating")
        if not ended and self._status["phase"] in DONE:  # the next look removes the pods
            plan.wake = self._now
        return plan

    # -- the three things that a job can be doing ------------------------------------------------------------------

    def _pause(self) -> None:
        self._plan.delete += self._present()
        self._status["phase"] = "Paused"
        self._set("Paused", True, "-", "The job is paused.")
        self._set("Running", False, "-", "The job is paused.")

    def _run(self) -> None:
        paused = self._conditions.get("Paused")
        if paused:
            self._plan.resumed = True
            self._set("Paused", False, "-", "The job has been resumed.")
        names = {place.name for place in self._places}
        self._plan.delete += [pod for pod in self._present() if pod["metadata"]["name"] not in names]

        begun = max(
            parse(self._conditions[name]["lastTransitionTime"])
            for name in ("Initialized", "Paused")
            if name in self._conditions
        )
        if limit := self._spec.get("runPolicy", {}).get("activeDeadlineSeconds"):
            if self._now >= begun + timedelta(seconds=limit):
                # reason and message are not public, nor is what becomes of the pods
                self._plan.delete += [pod for pod in self._present() if pod["status"].get("phase") not in DONE]
                return self._end(False, f"has failed: it was active longer than {limit} seconds")
            self._plan.wake = begun + timedelta(seconds=limit)

        up = 0
        for place in self._places:
            pod = self._pods.get(place.name)
            if pod is None:
                self._plan.create.append(place)
                continue
            if pod["metadata"]["uid"] in self._leaving:
                continue
            phase = pod["status"].get("phase")
            if phase == "Failed":
                if not self._restart(place, pod) and place.is_master:
                    return self._end(False, f"has failed: {place.name} failed with exit code {exit_code(pod)}")
            elif phase == "Succeeded" and place.is_master:
                return self._end(True, "")
            elif phase == "Succeeded" and place.restart_policy == "Always":
                self._restart(place, pod)
            up += phase in ("Running", "Succeeded")
        self._show_activity(up)
        return None

    def _show_activity(self, up: int) -> None:
        least, _ = node_range(self._job)
        elastic = switched_on(self._spec.get("elastic")) or least < len(self._places)
        if up >= (least if elastic else len(self._places)) or self._status.get("phase") == "Running":
            self._status["phase"] = "Running"
        else:
            self._status["phase"] = "Resuming" if self._plan.resumed else "Pending"
        fine = "All pods are running normally or have completed successfully."
        running = self._status["phase"] == "Running"
        self._set("Running", running, "-", fine if running else "Some pods are not running yet.")
        if self._choice("completed-entry", "true") == "true":
            self._set("Completed", False, "NotFinished", "The job is still running.")
        if self._failures:
            self._set("ReplicaFailure", True, self._choice("failure-reason", "Failed"), "; ".join(self._failures))
        else:
            self._set("ReplicaFailure", False, "-", fine)

    def _clean_up(self) -> None:
        policy = self._spec.get("runPolicy", {}).get("cleanUpPolicy", "None")  # the default is not public
        if policy == "All":
            self._plan.delete += self._present()
        elif policy == "Unfinished":
            self._plan.delete += [pod for pod in self._present() if pod["status"].get("phase") not in DONE]

    # -- steps -----------------------------------------------------------------------------------------------------

    def _present(self) -> list[Object]:
        return [pod for pod in self._pods.values() if pod["metadata"]["uid"] not in self._leaving]

    def _restart(self, place: Replica, pod: Object) -> bool:
        """Replace a pod that ended, if the policy and the limit allow it; returns whether they did."""
        code = exit_code(pod)
        if code != 0:
            self._failures.append(f"Pod[{place.name}] exited with error code {code}")
        wanted = {
            "Never": False,
            "ExitCode": code in (None, *RETRYABLE),  # none: evicted, or its node is lost
            "OnFailure": code != 0,
            "Always": True,
        }[place.restart_policy]
        if not wanted or self._backoff >= self._spec.get("runPolicy", {}).get("backoffLimit", 3):
            return False
        self._backoff += 1
        self._restarts[place.type] = self._restarts.get(place.type, 0) + 1
        self._leaving.add(pod["metadata"]["uid"])
        self._plan.delete.append(pod)
        self._plan.events.append(("Warning", "Restart", f"Restart the replica[{place.name}], exit code {code}."))
        return True

    def _end(self, succeeded: bool, why: str) -> None:
        phase = "Succeeded" if succeeded else "Failed"
        name = self._job["metadata"]["name"]
        text = "The job has finished successfully." if succeeded else f"PyTorchTrainingJob {name} {why}"
        self._status["phase"] = phase
        self._set("Running", False, phase, text)
        self._set("Failed", not succeeded, phase, text)
        self._set("Completed", succeeded or self._choice("completed-on-failure", "true") == "true", phase, text)
        if succeeded:
            self._set("ReplicaFailure", False, "-", "All pods are running normally or have completed successfully.")
        else:
            failures = "; ".join(self._failures) or text
            self._set("ReplicaFailure", True, self._choice("failure-reason", "Failed"), failures)

    def _set(self, type_: str, true: bool, reason: str, message: str) -> None:
        old = self._conditions.get(type_, {})
        status = str(true)
        time = old["lastTransitionTime"] if old.get("status") == status else stamp(self._now)
        new = {"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": time}
        self._conditions[type_] = new
        self._status["conditions"] = list(self._conditions.values())

    # -- tasks -----------------------------------------------------------------------------------------------------

    def _report(self, gone: str) -> None:
        tasks: dict[str, Object] = {spec["type"]: {"type": spec["type"]} for spec in self._spec["replicaSpecs"]}
        aggregate = dict.fromkeys(("creating", "pending", "running", "succeeded", "failed", "unknown", "deleted"), 0)
        field_name = self._choice("task-list", "replicas")
        before = {each["name"]: each for task in self._status.get("tasks", []) for each in task.get(field_name, [])}
        for task in tasks.values():
            if (count := self._restarts.get(task["type"], 0)) or self._choice("zero-restart-count", "false") == "true":
                task["restartCount"] = count
            task[field_name] = []
        for place in self._places:
            pod = self._pods.get(place.name)
            entry = (
                describe(pod) if pod else {**before.get(place.name, {"uid": "", "containers": []}), "name": place.name}
            )
            if pod is None or ("deletionTimestamp" in pod["metadata"] and gone == "Deleted"):
                entry["phase"] = gone
            tasks[place.type][field_name].append(entry)
            aggregate[entry["phase"].lower()] += 1
        self._status |= {"tasks": list(tasks.values()), "aggregate": aggregate, "backoffCount": self._backoff}


def describe(pod: Object) -> Object:
    status = pod.get("status", {})
    phase = status.get("phase", "Unknown")
    if phase == "Pending" and "nodeName" not in pod["spec"]:
        phase = "Creating"
    containers = []
    for each in status.get("containerStatuses", []):
        state = next(iter(each.get("state") or {"waiting": {}}))
        entry = {"name": each["name"], "state": state.capitalize()}
        if state == "terminated":
            entry["exitCode"] = each["state"]["terminated"]["exitCode"]
        containers.append(entry)
    return {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"], "phase": phase, "containers": containers}


def exit_code(pod: Object) -> int | None:
    """The code of the training container, else of the first that failed; None where none ended by itself."""
    status = pod.get("status", {})
    ended = {
        each["name"]: each["state"]["terminated"]["exitCode"]
        for each in [*status.get("containerStatuses", []), *status.get("initContainerStatuses", [])]
        if "terminated" in (each.get("state") or {})
    }
    containers = [container["name"] for container in pod["spec"]["containers"]]
    training = "python" if "python" in containers else containers[0]
    if ended.get(training) not in (None, 0):
        return ended[training]
    return next((code for code in ended.values() if code), ended.get(training))
