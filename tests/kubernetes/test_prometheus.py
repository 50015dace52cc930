"""Samples from Prometheus: queries, faults of the server, the time without a lab, energy and findings."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from jupyterlab_t9kjob.core.job import job_id
from jupyterlab_t9kjob.core.manifests.names import OWNER
from jupyterlab_t9kjob.core.resources import Column, SampleSpan
from jupyterlab_t9kjob.engines.kubernetes.cluster.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.resources import sampler
from jupyterlab_t9kjob.engines.kubernetes.resources.prometheus import client, queries, source
from jupyterlab_t9kjob.engines.kubernetes.resources.prometheus.answers import Series, scrape_interval, series_of
from jupyterlab_t9kjob.engines.kubernetes.resources.prometheus.discovery import best_service
from jupyterlab_t9kjob.engines.kubernetes.resources.prometheus.frames import GpuNumbers, SampledReplica, frames_of
from jupyterlab_t9kjob.engines.kubernetes.resources.prometheus.source import PrometheusSource
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.resources import ResourceService
from jupyterlab_t9kjob.resources.model import ResourceView
from tests.kubernetes.fakeapi import Call, Certificates, cut, hang
from tests.kubernetes.fakecluster import JOBS, FakeCluster, kubeflow, training
from tests.kubernetes.fakeprometheus import STEP, FakePrometheus, matrix, replayed
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio

ALL = SampleSpan(None, None, 500)
MINUTES = 20
TRAIN = job_id("kubeflow", "lab", "train", "train")
TOKEN = "s3cret-t0ken"
METRICS = "/apis/metrics.k8s.io/v1beta1/namespaces/lab/pods"
SERVICES = "/api/v1/namespaces/monitoring/services"


# -- queries -----------------------------------------------------------------------------------------------------------


async def test_names_in_queries_are_data() -> None:
    hostile = ['a"} or vector(1) or x{y="', "a\\", ".*", "a|b", "(", "a-(x", "ü-1", "a\nb-1", "a-1", "a-2", "a-10"]
    expression = queries.matching(hostile)
    for name in hostile:
        assert re.fullmatch(expression, name), name
    for other in ("anything", "b", "a-3", "a-", "a-1|a-2", ""):
        assert not re.fullmatch(expression, other), other
    query = queries.samples_query('lab"} or {x="', hostile, 120)
    strings = re.findall(r'"(?:[^"\\\n]|\\.)*"', query)
    outside = re.sub(r'"(?:[^"\\\n]|\\.)*"', "", query)
    assert "vector" not in outside and '"' not in outside and "\n" not in outside
    assert 'lab"} or {x="' in {json.loads(string) for string in strings}


async def test_many_pods_are_several_short_queries() -> None:
    names = [f"team-{team}-train-worker-{number}" for team in range(40) for number in range(64)]
    groups = list(queries.in_groups(names))
    assert sorted(name for group in groups for name in group) == sorted(names)
    assert all(len(queries.matching(group)) < 1.2 * queries.MOST_SELECTOR for group in groups) and len(groups) < 30


@pytest.mark.parametrize(
    ("services", "expected"),
    [
        (
            [("prometheus-operated", {"name": "web", "port": 9090}), ("prometheus-k8s", {"port": 9090})],
            "prometheus-k8s",
        ),
        ([("my-kube-prometheus-stack-prometheus", {"name": "http-web", "port": 9090})], "my-kube-prometheus-stack-"),
        ([("prometheus-server", {"name": "http", "port": 80})], "prometheus-server"),
        ([("grafana", {"name": "http", "port": 3000})], None),
        ([("prometheus-k8s", {"port": "9090"}), ("prometheus-k8s", {"port": 99999}), ("", None)], None),
        ([("prometheus-k8s", {"port": 9090, "external": True})], None),
    ],
)
async def test_the_service_is_found_by_its_usual_names(services: list[tuple[str, Any]], expected: str | None) -> None:
    items = [
        {
            "metadata": {"name": name},
            "spec": {"ports": [port], "type": "ExternalName" if port and port.get("external") else "ClusterIP"},
        }
        for name, port in services
    ]
    found = best_service(items)
    assert (found is None) if expected is None else (found is not None and found[0].startswith(expected))


# -- faults ------------------------------------------------------------------------------------------------------------


def answers(status: int, body: Any, **headers: str) -> Callable[[Call], Awaitable[None]]:
    return lambda call: call.answer(status, body, **headers)


async def endless(call: Call) -> None:
    await call.begin()
    while True:
        await call.chunk(b" " * 65536)


async def trickling(call: Call) -> None:
    await call.begin()
    while True:
        await call.chunk(b" ")
        await asyncio.sleep(0.02)


FAULTS: dict[str, tuple[Callable[[Call], Awaitable[None]], str]] = {
    "silent": (hang, "PrometheusSlow"),
    "trickling": (trickling, "PrometheusSlow"),
    "endless": (endless, "PrometheusTooLarge"),
    "cut": (cut, "PrometheusUnreachable"),
    "a page": (answers(200, "<html>log in</html>"), "PrometheusWrong"),
    "other JSON": (answers(200, '{"status": "success", "data": []}'), "PrometheusWrong"),
    "deep JSON": (answers(200, "[" * 100_000), "PrometheusWrong"),
    "a token is needed": (answers(401, f"echo Bearer {TOKEN}"), "PrometheusForbidden"),
    "forbidden": (answers(403, f"echo Bearer {TOKEN}"), "PrometheusForbidden"),
    "a redirect": (answers(302, "", Location="http://127.0.0.1:1/login"), "PrometheusRedirects"),
    "refused": (answers(422, {"status": "error", "error": "too many samples"}), "PrometheusRefuses"),
    "broken": (answers(500, "stack trace"), "PrometheusRefuses"),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_faults_are_sentences(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    act, code = FAULTS[name]
    if code == "PrometheusSlow":
        monkeypatch.setattr(client, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(client, "MOST_ANSWER", 1_000_000)
    (tmp_path / "token").write_text(TOKEN + "\n")
    caplog.set_level(logging.DEBUG)
    async with FakePrometheus() as server:
        server.faults.append(("any", act))
        settings = Settings(prometheus=server.url, prometheus_token_file=str(tmp_path / "token"))
        prometheus = PrometheusSource(settings, lambda: None)
        assert await prometheus.read("lab", ["a-0"], time.time() - 100, time.time()) is None
        reason = prometheus.problem
        assert reason is not None and reason.code == code and reason.sentence.endswith(".")
        # On a loaded machine the short limit may end a request before it arrives.
        assert server.requests or code == "PrometheusSlow"
        assert all(request.authorization == f"Bearer {TOKEN}" for request in server.requests)
        # A server that failed is left alone for a while.
        assert await prometheus.read("lab", ["a-0"], time.time() - 100, time.time()) is None
        assert len(server.requests) <= 1
    assert TOKEN not in caplog.text + reason.model_dump_json()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prometheus": "prometheus:9090"}, "not the address"),
        ({"prometheus": f"http://me:{TOKEN}@host"}, "a password"),
        ({"prometheus": "http://127.0.0.1:1", "prometheus_token_file": "/nowhere"}, "can't be read"),
        ({"prometheus": "http://127.0.0.1:1", "prometheus_token_file": "/dev/null"}, "contains no token"),
        ({"prometheus": "http://127.0.0.1:1"}, "can't be reached"),
        ({"prometheus": "https://127.0.0.1:1", "prometheus_ca_file": "/nowhere"}, "prometheus_ca_file"),
        ({"prometheus": "off"}, None),
        ({}, None),
    ],
)
async def test_settings_that_are_wrong_are_told(settings: dict[str, str], words: str | None) -> None:
    prometheus = PrometheusSource(Settings(**settings), lambda: None)  # type: ignore[arg-type]
    assert await prometheus.read("lab", ["a-0"], time.time() - 100, time.time()) is None
    if words is None:
        assert prometheus.problem is None
    else:
        assert prometheus.problem is not None and words in prometheus.problem.sentence
        assert TOKEN not in prometheus.problem.model_dump_json()


async def test_a_certificate_is_checked(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path / "pki")
    async with FakePrometheus(certificates=certificates) as server:
        for ca_file, code in (("", "PrometheusUntrusted"), (str(certificates.ca_file), None)):
            prometheus = PrometheusSource(Settings(prometheus=server.url, prometheus_ca_file=ca_file), lambda: None)
            answer = await prometheus.read("lab", ["train-master-0"], server.begin, server.begin + 600)
            assert (prometheus.problem.code if prometheus.problem else None) == code
            assert (answer is None) == (code is not None)


async def test_values_that_are_none_are_dropped() -> None:
    labels = {"metric": "cpu", "pod": "a-0", "container": "pytorch"}
    values = [[30, "NaN"], [60, "+Inf"], [90, "-1"], [120, "9223372036854775792"], [150, "x"], [180, 1], "x", [210]]
    result = [
        {"metric": labels, "values": [*values, [240, "0.5"]]},
        {"metric": [], "values": []},
        5,
        {"metric": labels},
    ]
    (series,) = series_of(json.dumps(matrix(result)).encode(), "host")
    assert series.values == {240.0: 0.5}
    frames = frames_of([series], [SampledReplica("worker-0", "a-0", "pytorch")], GpuNumbers())
    expected = {240.0: {Column("worker-0", "replica", None, "cpu"): 0.5, Column(None, "job", None, "cpu"): 0.5}}
    assert frames == expected
    of_pod = Series({"metric": "cpu", "pod": "a-0"}, {240.0: 0.7})
    assert frames_of([series, of_pod], [SampledReplica("worker-0", "a-0", "pytorch")], GpuNumbers()) == expected
    alone = frames_of([of_pod], [SampledReplica("worker-0", "a-0", "pytorch")], GpuNumbers())
    assert alone[240.0][Column("worker-0", "replica", None, "cpu")] == 0.7, "the whole pod, if that is all there is"
    assert scrape_interval([]) is None and scrape_interval([series]) is None


async def test_gpus_keep_their_numbers_on_a_node_and_begin_anew_on_another() -> None:
    numbers = GpuNumbers()
    first, second, third = ("0004", "0000", "GPU-a"), ("0005", "0000", "GPU-b"), ("0001", "0000", "GPU-c")
    assert numbers.of("worker-0", [first, second]) == {first: 0, second: 1}
    assert numbers.of("worker-0", [second])[second] == 1
    assert numbers.of("worker-0", [third]) == {third: 0}


# -- jobs --------------------------------------------------------------------------------------------------------------


def pod(name: str, job: str) -> dict[str, Any]:
    resources = {"limits": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "2"}}
    kind, index = name.rsplit("-", 2)[1:]
    return {
        "metadata": {
            "name": name,
            "namespace": "lab",
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "labels": {
                "training.kubeflow.org/job-name": job,
                "training.kubeflow.org/replica-type": kind,
                "training.kubeflow.org/replica-index": index,
            },
            "ownerReferences": [
                {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "uid": job, "controller": True}
            ],
        },
        "spec": {"containers": [{"name": "pytorch", "image": "i", "resources": resources}]},
        "status": {"phase": "Running"},
    }


def clock(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def job(name: str, begin: float, *, end: float | None = None) -> dict[str, Any]:
    manifest = training(name, created=clock(begin), annotations={OWNER: "tester"})
    specs = manifest["spec"]["pytorchReplicaSpecs"]
    specs["Worker"] = specs["Master"]
    state = "Running" if end is None else "Succeeded"
    condition = {"type": state, "status": "True", "lastTransitionTime": clock(end or begin)}
    status: dict[str, Any] = {"startTime": clock(begin), "conditions": [condition]}
    if end is not None:
        status["completionTime"] = clock(end)
    return {**manifest, "status": status}


async def view_of(service: ResourceService, ident: str, is_ready: Callable[[ResourceView], bool]) -> ResourceView:
    deadline = time.monotonic() + PATIENCE
    view = await service.view(ident, ALL, "unit")
    while not is_ready(view):
        assert time.monotonic() < deadline, view
        view = await service.view(ident, ALL, "unit", view.version)
    return view


def is_whole(view: ResourceView) -> bool:
    """Return True if a view has the samples of the whole time."""
    return view.first is not None and view.last is not None and view.last - view.first > (MINUTES - 2) * 60


async def test_the_time_without_a_lab_has_gpus_energy_and_findings(tmp_path: Path) -> None:
    begin = int(time.time()) // STEP * STEP - MINUTES * 60
    async with FakePrometheus(begin=begin) as prometheus, FakeCluster() as cluster:
        prometheus.allowed = lambda request: request.authorization == f"Bearer {TOKEN}"
        (tmp_path / "token").write_text(TOKEN)
        cluster.items[JOBS] = [job("train", begin)]
        pods = [pod("train-master-0", "train"), pod("train-worker-0", "train")]
        cluster.items["/api/v1/namespaces/lab/pods"] = pods
        settings = {"prometheus": prometheus.url, "prometheus_token_file": str(tmp_path / "token")}
        async with kubeflow(cluster, tmp_path, **settings) as engine:
            service = ResourceService(Engines({"kubeflow": engine}))
            view = await view_of(service, TRAIN, is_whole)  # The samples are written piece by piece.
            assert (view.source, view.source_label) == ("prometheus", "every 30 s, from Prometheus and DCGM")
            assert view.trouble is None
            rows = {row.metric: row for row in view.rows}
            assert {"gpu_use", "gpu_memory", "gpu_power", "cpu", "memory", "network", "disk"} <= set(rows)
            uses = {(curve.replica, curve.number) for curve in rows["gpu_use"].curves}
            assert uses == {(name, number) for name in ("master-0", "worker-0") for number in (0, 1)}
            assert rows["gpu_use"].scope == "% of each NVIDIA A100-SXM4-80GB"
            assert [level.label for level in rows["gpu_memory"].levels] == ["80 GiB on the card"]
            cpu = {curve.replica: curve.mean[-1] for curve in rows["cpu"].curves}
            assert cpu == {"master-0": 4.0, "worker-0": 4.0}, "the training container alone"
            assert rows["network"].curves[0].mean[-1] == 3e7 and rows["disk"].curves[0].mean[-1] == 1.1e8
            (finding,) = view.findings
            assert finding.code == "GpuIdle" and "GPU 1 of worker-0" in finding.sentence
            # 300 W of two GPUs each, another one with its momentary power, and 60 W of the idle one.
            energy = (3 * 300 + 60) * MINUTES * 60
            assert view.usage.energy_joules == pytest.approx(energy, rel=0.05)
            paths = [asked["path"] for asked in prometheus.asked[:2]]
            assert paths == ["/api/v1/query", "/api/v1/query_range"], "the interval, and one query for everything"
        # Another lab on the same home goes on where this one stopped.
        async with kubeflow(cluster, tmp_path, **settings) as engine:
            service = ResourceService(Engines({"kubeflow": engine}))
            again = await view_of(service, TRAIN, is_whole)
            assert again.usage.energy_joules == pytest.approx(energy, rel=0.05)
            assert again.times[: len(view.times)] == view.times


async def test_of_two_labs_on_one_home_one_takes_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(source, "PAUSE_SECONDS", 0.0)
    begin = int(time.time()) // STEP * STEP - (MINUTES + 3) * 60
    async with FakePrometheus(begin=begin) as prometheus, FakeCluster() as cluster:
        prometheus.allowed = lambda _request: False  # until both run
        cluster.items[JOBS] = [job("train", begin)]
        cluster.items["/api/v1/namespaces/lab/pods"] = [pod("train-master-0", "train"), pod("train-worker-0", "train")]
        labs = {}
        for name in ("token-a", "token-b"):
            (tmp_path / name).write_text(name)
            settings = {"prometheus": prometheus.url, "prometheus_token_file": str(tmp_path / name)}
            stack = contextlib.AsyncExitStack()
            engine = await stack.enter_async_context(kubeflow(cluster, tmp_path, **settings))
            labs[f"Bearer {name}"] = (ResourceService(Engines({"kubeflow": engine})), stack)
        tried = len(prometheus.requests)
        prometheus.allowed = lambda _request: True
        while len(prometheus.requests) < tried + 4:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        energy = pytest.approx((3 * 300 + 60) * MINUTES * 60, rel=0.05)
        for service, _stack in labs.values():
            assert (await view_of(service, TRAIN, is_whole)).usage.energy_joules == energy
        (holder,) = {request.authorization for request in prometheus.requests}
        await labs.pop(holder)[1].aclose()
        ((other, (service, stack)),) = labs.items()
        while prometheus.requests[-1].authorization != other:  # noqa: ASYNC110 - the other one takes over
            await asyncio.sleep(0.02)
        assert (await view_of(service, TRAIN, is_whole)).usage.energy_joules == energy
        await stack.aclose()


async def test_two_labs_that_show_an_ended_job_read_it_once(tmp_path: Path) -> None:
    begin = int(time.time()) // STEP * STEP - 3600
    async with FakePrometheus(begin=begin) as prometheus, FakeCluster() as cluster:
        cluster.items[JOBS] = [job("train", begin, end=begin + (MINUTES + 2) * 60)]
        cluster.items["/api/v1/namespaces/lab/pods"] = [pod("train-master-0", "train"), pod("train-worker-0", "train")]
        async with (
            kubeflow(cluster, tmp_path, prometheus=prometheus.url) as first,
            kubeflow(cluster, tmp_path, prometheus=prometheus.url) as second,
        ):
            services = [ResourceService(Engines({"kubeflow": engine})) for engine in (first, second)]
            views = await asyncio.gather(*(view_of(service, TRAIN, is_whole) for service in services))
            energy = (3 * 300 + 60) * MINUTES * 60
            assert [view.usage.energy_joules for view in views] == [pytest.approx(energy, rel=0.05)] * 2


async def test_an_ended_job_has_what_prometheus_has_of_it(tmp_path: Path) -> None:
    begin = int(time.time()) // STEP * STEP - 3600
    async with FakePrometheus(begin=begin) as prometheus, FakeCluster() as cluster:
        cluster.items[JOBS] = [job("train", begin, end=begin + MINUTES * 60)]
        cluster.items["/api/v1/namespaces/lab/pods"] = [pod("train-master-0", "train"), pod("train-worker-0", "train")]
        async with kubeflow(cluster, tmp_path, prometheus=prometheus.url) as engine:
            service = ResourceService(Engines({"kubeflow": engine}))
            view = await view_of(service, TRAIN, lambda view: bool(view.rows))
            assert view.source == "prometheus" and view.last == begin + MINUTES * 60 and view.unavailable is None
            asked = len(prometheus.asked)
            await service.view(TRAIN, ALL, "sum")
            assert len(prometheus.asked) == asked, "it is read once"


async def test_the_page_falls_back_to_the_metrics_api_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "PAUSE_SECONDS", 0.0)
    begin = int(time.time()) // STEP * STEP - MINUTES * 60
    usage = [{"name": "pytorch", "usage": {"cpu": "1500m", "memory": "2Gi"}}]
    async with FakePrometheus(begin=begin) as prometheus, FakeCluster() as cluster:
        prometheus.faults.append(("any", answers(401, "")))
        cluster.items[JOBS] = [job("train", begin)]
        cluster.items["/api/v1/namespaces/lab/pods"] = [pod("train-master-0", "train"), pod("train-worker-0", "train")]
        cluster.items[METRICS] = [{"metadata": {"name": "train-master-0"}, "timestamp": "t", "containers": usage}]
        async with kubeflow(cluster, tmp_path, prometheus=prometheus.url) as engine:
            service = ResourceService(Engines({"kubeflow": engine}))
            # On a loaded machine the first rows may come before Prometheus answers.
            view = await view_of(service, TRAIN, lambda view: bool(view.rows and view.trouble))
            assert view.source == "metrics_api" and view.trouble is not None
            assert view.trouble.sentence == f"Prometheus at 127.0.0.1:{prometheus.port} needs a bearer token."
            assert view.trouble.hint is not None and view.trouble.hint.startswith(
                "CPU and memory come from the metrics"
            )


async def test_a_service_is_reached_through_the_api_server(tmp_path: Path) -> None:
    begin = int(time.time()) // STEP * STEP - MINUTES * 60
    proxy = "/api/v1/namespaces/monitoring/services/http:prometheus-k8s:9090/proxy"
    async with FakePrometheus(begin=begin) as prometheus, FakeCluster() as cluster:

        async def forwarded(call: Call) -> None:
            call.request.path = call.request.path.removeprefix(proxy)
            call.request.body = urlencode(call.request.query).encode()
            await prometheus._handle(call)

        cluster.items[JOBS] = [job("train", begin)]
        cluster.items["/api/v1/namespaces/lab/pods"] = [pod("train-master-0", "train"), pod("train-worker-0", "train")]
        ports = [{"name": "web", "port": 9090}]
        cluster.items[SERVICES] = [{"metadata": {"name": "prometheus-k8s"}, "spec": {"ports": ports}}]
        cluster.instead |= {f"{proxy}/api/v1/{path}": forwarded for path in ("query", "query_range")}
        async with kubeflow(cluster, tmp_path) as engine:
            service = ResourceService(Engines({"kubeflow": engine}))
            view = await view_of(service, TRAIN, lambda view: bool(view.rows))
            assert view.source == "prometheus"


# -- the real program --------------------------------------------------------------------------------------------------


def open_metrics(begin: int) -> str:
    """Return the series of the file in the format that promtool makes blocks of."""
    lines = []
    for series in replayed():
        labels = ",".join(f'{name}="{value}"' for name, value in series.labels.items())
        lines += [
            f"{series.name}{{{labels}}} {value:.0f} {begin + STEP * number}"
            for number, value in enumerate(series.values)
        ]
    return "\n".join([*lines, "# EOF", ""])


@pytest.fixture(scope="module")
def programs() -> Path:
    """Return the folder of Prometheus' programs: installed ones, else those of Debian's package, unpacked once."""
    if (installed := shutil.which("prometheus")) is not None:
        return Path(installed).parent
    folder = Path(__file__).parents[2] / "build" / "prometheus"
    if not (folder / "usr/bin/promtool").exists():
        if os.geteuid() != 0 or shutil.which("apt-get") is None:
            pytest.skip("root: Prometheus is not installed, and only root gets Debian's package")
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", "prometheus"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        (package,) = folder.glob("prometheus_*.deb")
        subprocess.run(["dpkg", "-x", package, folder], check=True)
        package.unlink()
    return folder / "usr" / "bin"


async def test_a_real_prometheus_understands_the_queries(programs: Path, tmp_path: Path) -> None:
    begin = int(time.time()) // 3600 * 3600 - 7200
    (tmp_path / "made-up.txt").write_text(open_metrics(begin))
    (tmp_path / "prometheus.yml").write_text("{}")
    blocks = ["tsdb", "create-blocks-from", "openmetrics", f"{tmp_path}/made-up.txt", f"{tmp_path}/tsdb"]
    await asyncio.to_thread(subprocess.run, [programs / "promtool", *blocks], check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        programs / "prometheus",
        f"--config.file={tmp_path}/prometheus.yml",
        f"--storage.tsdb.path={tmp_path}/tsdb",
        f"--web.listen-address=127.0.0.1:{port}",
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        async for line in process.stderr:
            if b"ready to receive web requests" in line:
                break
        prometheus = PrometheusSource(Settings(prometheus=f"http://127.0.0.1:{port}"), lambda: None)
        pods = ["train-master-0", "train-worker-0"]
        answer = await prometheus.read("lab", pods, begin, begin + MINUTES * 60)
        assert prometheus.problem is None and prometheus.interval == STEP
        assert answer is not None and answer.step == STEP
        replicas = [SampledReplica("master-0", pods[0], "pytorch"), SampledReplica("worker-0", pods[1], "pytorch")]
        frames = frames_of(answer.series, replicas, numbers := GpuNumbers())
        values = frames[begin + MINUTES * 60]
        master = {
            column.metric: value
            for column, value in values.items()
            if (column.replica, column.kind) == ("master-0", "replica")
        }
        expected = {
            "cpu": 4.0,
            "memory": 2.0**33,
            "throttled": 0.4,
            "disk": 1.1e8,
            "disk_read": 1e8,
            "network": 3e7,
            "gpu_use": 94.5,
            "gpu_memory": 62000 * 2.0**20,
            "gpu_power": 600.0,
        }
        assert master == pytest.approx(expected, rel=0.001)
        gpus = {
            (column.replica, column.number): value
            for column, value in values.items()
            if column.metric == "gpu_power" and column.kind == "gpu"
        }
        assert gpus == pytest.approx(
            {("master-0", 0): 300, ("master-0", 1): 300, ("worker-0", 0): 300, ("worker-0", 1): 60}, rel=0.001
        )
        assert numbers.cards["master-0/0"] == {"name": "NVIDIA A100-SXM4-80GB", "memory": 81920 * 2.0**20}
        # A long time has long steps.
        long = await prometheus.read("lab", pods, begin - 7 * 86400, begin + MINUTES * 60 + 1500)
        assert long is not None and 1200 < long.step < 1500 and long.series
        # The names of pods of other jobs do not match, whatever they are.
        other = await prometheus.read("lab", ["train-master-00", 'x"} or vector(1) #'], begin, begin + 600)
        assert other is not None and other.series == [] and prometheus.problem is None
    finally:
        process.terminate()
        await process.wait()
