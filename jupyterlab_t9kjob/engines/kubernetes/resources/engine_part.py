"""The part of the engine that returns samples of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....core.resources import Samples, SampleSpan
    from ..jobs.snapshot import JobSnapshot
    from .sampler import ClusterSampler


class ReadsSamples:
    """Base of the engine; see `core.engine.options.HasResources`."""

    @property
    def _resources(self) -> ClusterSampler:
        raise NotImplementedError

    async def _open(self, uid: str) -> JobSnapshot:
        raise NotImplementedError

    async def samples(self, uid: str, span: SampleSpan) -> Samples:
        """Return all samples of the job that this lab has kept.

        The parameters are those of `core.engine.options.HasResources.samples`.
        """
        from .reading import samples_of

        return await samples_of(self._resources, await self._open(uid))

    async def samples_version(self, uid: str) -> str:
        """Return a text that changes with each new sample; the job is sampled while pages ask for it."""
        from .reading import version_of

        return await version_of(self._resources, await self._open(uid))
