"""`Client`: jobs from a notebook or a program, without a running lab.

The services run on an event loop in a thread of their own, so the methods can be called in a notebook, whose own event
loop is busy. They block until they have an answer.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from typing_extensions import Self

from .handle import JobHandle

if TYPE_CHECKING:
    from ..core.job import Job, JobSummary
    from .options import JobOptions
    from .session import Session

T = TypeVar("T")

_END: Final = object()
READ_AHEAD: Final = 10_000
"""Lines of a log that are read ahead of the program that iterates over them."""


class Client:
    """Submits, lists and follows jobs.

    ::

        from jupyterlab_t9kjob import Client

        with Client() as client:
            job = client.submit("train.py", args=["--epochs", "10"], processes=2)
            for line in job.logs(follow=True):
                print(line)
            job.wait()

    A client has a thread and connections until the end of ``with``, or until `close`.

    Parameters
    ----------
    engine
        Engine of new jobs and of lists; None for the default one of `submit`, and for all in lists.
    namespace
        Namespace in the cluster; None for the default one.
    home
        Folder of the records of jobs; None for the configured one.
    context
        Context of the kubeconfig; None for the configured one.

    Attributes
    ----------
    session
        The services.
    loop
        The event loop on which the services run.

    Raises
    ------
    JobError
        If the settings can't be used.
    """

    def __init__(
        self,
        engine: str | None = None,
        namespace: str | None = None,
        *,
        home: str | Path | None = None,
        context: str | None = None,
    ) -> None:
        self.engine, self.namespace = engine, namespace
        self._values: dict[str, Any] = {}
        if home is not None:
            self._values["home"] = str(home)
        if context is not None:
            self._values["kubernetes_context"] = context
        if namespace:
            self._values["kubernetes_namespaces"] = [namespace]
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="jupyterlab_t9kjob", daemon=True)
        self._thread.start()
        self._closed = False
        try:
            self.session: Session = self.call(self._open())
        except BaseException:
            self.loop.call_soon_threadsafe(self.loop.stop)
            raise
        atexit.register(self.close)

    async def _open(self) -> Session:
        from .configuration import read_settings
        from .session import Session

        settings = await asyncio.to_thread(read_settings, self._values)
        return await Session(settings).__aenter__()

    def close(self) -> None:
        """Stop the services. Jobs go on."""
        if not self._closed:
            self.call(self.session.stop())
            self._closed = True
            atexit.unregister(self.close)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine, which runs on the client's event loop."""
        if self._closed:
            work.close()
            raise RuntimeError("the client is closed")
        future = asyncio.run_coroutine_threadsafe(_without_exit(work), self.loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    # -- jobs ---------------------------------------------------------------------------------------------------------

    def submit(
        self,
        file: str | Path | None = None,
        *,
        module: str | None = None,
        command: str | None = None,
        manifest: str | None = None,
        preset: str | None = None,
        engine: str | None = None,
        namespace: str | None = None,
        **options: Any,
    ) -> JobHandle:
        """Submit a job. What is not given is filled in as in the launch form.

        Parameters
        ----------
        file
            Script or notebook.
        module, command
            Module or shell command instead of a file.
        manifest
            Text of a manifest, or of the fields of a job.
        preset
            Name of a preset.
        engine, namespace
            Where the job runs; None for those of the client.
        options
            Fields of `options.JobOptions`: name, args, nodes, processes, gpus, env …

        Raises
        ------
        JobError
            If the job can't run.
        TypeError
            If there is no such option, or a text is given instead of a list.
        """
        from .form import Target, create, fill
        from .options import JobOptions

        target = Target(
            file=None if file is None else Path(file),
            module=module,
            command=command,
            manifest=manifest,
            engine=engine or self.engine,
            namespace=namespace or self.namespace or "",
            preset=preset,
        )
        given: JobOptions = JobOptions(**options)

        async def work() -> Job:
            return await create(self.session, await fill(self.session, target, given))

        return JobHandle(self, self.call(work()).summary())

    def jobs(
        self, *, phases: Sequence[str] = (), deleted: bool = False, all_namespaces: bool = False
    ) -> list[JobHandle]:
        """Return the jobs of the client's engine and namespace, newest first.

        Parameters
        ----------
        phases
            Phases of the jobs; empty for all.
        deleted
            True to include the records of deleted jobs.
        all_namespaces
            True for the jobs of all namespaces that the account may list.

        Raises
        ------
        BadRequest
            If there is no such phase.
        """
        from .words import demand_list

        demand_list("phases", phases)
        if all_namespaces:
            self.call(self.session.watch_all_namespaces())
        self.call(self.session.jobs.engines.read())
        jobs = self.call(self._summaries(phases=phases, deleted=deleted, all_namespaces=all_namespaces))
        return [JobHandle(self, job) for job in jobs]

    def get(self, name: str) -> JobHandle:
        """Return a job by its name or id.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        from .lookup import find_job

        return JobHandle(self, find_job(name, self.call(self._summaries(deleted=True))))

    async def _summaries(
        self, *, phases: Sequence[str] = (), deleted: bool, all_namespaces: bool = False
    ) -> list[JobSummary]:
        from ..jobs.query import Query
        from .lookup import matching

        namespace = None if all_namespaces else self.namespace
        query = Query(phases=frozenset(phases), deleted=deleted)
        return matching(await self.session.jobs.jobs(query), self.engine, namespace)

    def iterate(self, make: Callable[[], AsyncIterator[T]]) -> Iterator[T]:
        """Yield the items of an asynchronous iterator that runs on the client's event loop.

        Parameters
        ----------
        make
            Makes the iterator.
        """
        items: asyncio.Queue[Any] = asyncio.Queue(READ_AHEAD)

        async def fill() -> None:
            try:
                async for item in make():
                    await items.put(item)
            except Exception as error:
                await items.put(error)
            await items.put(_END)

        filling = asyncio.run_coroutine_threadsafe(fill(), self.loop)
        try:
            while (item := self.call(items.get())) is not _END:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            filling.cancel()


async def _without_exit(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine; an exit would end the event loop, and the caller would wait for ever."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(f"the services wanted to exit: {error}") from error
