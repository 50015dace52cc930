"""`Presets`: lists, saves and applies presets, and enforces the administrator's locks."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from ..core.checks import Check
from ..core.code.git_address import GIT_SYNC_IMAGE
from ..core.errors import FieldError, Unavailable
from ..core.spec import JobSpec
from ..core.system.disk_threads import on_disk
from ..core.translation import _
from ..jobs.service import JobService
from .applying import with_values
from .configuration import Configuration, Configured
from .locks import applies, check_locks, document_of, with_locks
from .model import AppliedPreset, ApplyPreset, Lock, Preset, PresetEntry, PresetList, SavePreset
from .store import PresetStore

log = logging.getLogger(__name__)


class Presets:
    """Presets of the user and of the administrator, and the administrator's locks.

    Parameters
    ----------
    home
        Directory of the user's file.
    configuration
        The administrator's presets and locks.
    jobs
        All engines.
    git_image
        The administrator's image that clones repositories; locks of images do not apply to it.
    """

    def __init__(
        self, home: Path, configuration: Configuration, jobs: JobService, git_image: str = GIT_SYNC_IMAGE
    ) -> None:
        self._git_image = git_image
        self._store = PresetStore(home)
        self._configuration = configuration
        self._jobs = jobs

    async def start(self) -> None:
        """Read the administrator's file, so that the log says at once what is wrong with it."""
        try:
            await self._configuration_now()
        except Unavailable as problem:
            log.error("jupyterlab_t9kjob: %s No job can be submitted meanwhile.", problem.message)

    async def for_form(self, engine: str) -> PresetList:
        """Return the presets and locks for the form of an engine."""
        own, configured = await asyncio.gather(on_disk(self._store.path, self._store.read), self._configuration_now())
        presets = [*own[0], *configured.presets]
        return PresetList(
            presets=[preset for preset in presets if not preset.engines or engine in preset.engines],
            locks=await self._locks(engine),
            problems=[*own[1], *configured.problems],
        )

    async def image(self, engine: str) -> str | None:
        """Return the image of the first preset of an engine that has one; the user's own presets come first."""
        own, configured = await asyncio.gather(on_disk(self._store.path, self._store.read), self._configuration_now())
        for preset in [*own[0], *configured.presets]:
            runtime = preset.values.get("/runtime")
            inner = runtime.get("image") if isinstance(runtime, dict) else None
            image = preset.values.get("/runtime/image", inner)
            if isinstance(image, str) and image and (not preset.engines or engine in preset.engines):
                return image
        return None

    async def save(self, request: SavePreset) -> Preset:
        """Save a preset of the user."""
        entry = PresetEntry.model_validate({name: getattr(request, name) for name in PresetEntry.model_fields})
        return await asyncio.to_thread(self._store.save, entry, replace=request.replace)

    async def rename(self, ident: str, name: str) -> Preset:
        """Rename a preset of the user.

        Parameters
        ----------
        ident
            Id of the preset.
        name
            New name.
        """
        return await asyncio.to_thread(self._store.rename, ident, name)

    async def delete(self, ident: str) -> None:
        """Delete a preset of the user."""
        await asyncio.to_thread(self._store.delete, ident)

    async def apply(self, request: ApplyPreset) -> AppliedPreset:
        """Return a form's spec with the values of a preset, and what could not be applied."""
        info = await self._jobs.engines.get(request.engine).info()
        spec, notes = with_values(request.spec, request.values, info.capabilities)
        return AppliedPreset(spec=await self.fixed(spec, request.engine), notes=notes)

    async def fixed(self, spec: JobSpec, engine: str, *, fresh: bool = False) -> JobSpec:
        """Return a form's spec with the values that locks fix; a fresh form also observes the other locks.

        Parameters
        ----------
        spec
            The form's specification.
        engine
            Name of the engine.
        fresh
            True to change also values that are not allowed or too large, because the user chose none of them.
        """
        locks = await self._locks(engine)
        return with_locks(locks, spec, fresh=fresh) if locks else spec

    async def checks(self, spec: JobSpec, engine: str) -> list[Check]:
        """Return an error for each lock that a job breaks.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.

        Raises
        ------
        FieldError
            If the job's `extra` breaks its manifest.
        """
        try:
            await self._demand_known()
        except Unavailable as problem:
            return [Check.of(problem)]
        locks = await self._locks(engine)
        if not locks:
            return []
        kind = self._jobs.engines.facts(engine).manifest_kind
        document = await asyncio.to_thread(document_of, spec, kind)
        return check_locks(locks, document, self._git_image)

    async def admit(self, spec: JobSpec, engine: str) -> None:
        """Refuse a job that breaks a lock.

        Parameters
        ----------
        spec
            The job's specification.
        engine
            Name of the engine.

        Raises
        ------
        FieldError
            If the job breaks a lock; the hint has the administrator's reason.
        Unavailable
            If the administrator's file could never be read.
        """
        await self._demand_known()
        for check in await self.checks(spec, engine):
            raise FieldError(check.message, field=check.field, hint=check.hint, code=check.code)

    async def _demand_known(self) -> None:
        """Raise `Unavailable` if nobody knows the administrator's locks."""
        unknown = (await self._configuration_now()).unknown
        if unknown is not None:
            message = _("The administrator's rules for jobs can't be read, so no job can be submitted.")
            hint = _("Tell the administrator about {path}: {problem}", path=unknown.path or "", problem=unknown.message)
            raise Unavailable(message, code="LocksUnknown", hint=hint)

    async def _configuration_now(self) -> Configured:
        """Return the administrator's presets and locks; those last read if the file's disk does not answer."""
        path = self._configuration.path
        if path is None:
            return self._configuration.read()
        try:
            return await on_disk(path, self._configuration.read)
        except Unavailable:
            if self._configuration.last is None:
                raise
            return self._configuration.last

    async def _locks(self, engine: str) -> list[Lock]:
        """Return the locks that apply to the jobs of an engine."""
        locks = (await self._configuration_now()).locks
        if not locks or not self._jobs.engines.has(engine):
            return []
        facts = self._jobs.engines.facts(engine)
        capabilities = (await self._jobs.engines.get(engine).info()).capabilities
        return [lock for lock in locks if applies(lock, engine, capabilities, in_kernel=facts.runs_in_kernel)]
