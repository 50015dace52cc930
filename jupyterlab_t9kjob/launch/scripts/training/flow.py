"""Follows values through a script and its modules: to options, constants and ranks, by names and not by types."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from ..facts import Facts, Place
from ..observed import Assigned, Call, Constant, Observed, Ref, Scope, Value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..workspace import Closure

MAX_DEPTH: Final = 12
MAX_STEPS: Final = 400
RANK: Final = re.compile(
    r"rank(?!ing)|master|main_?process|is_main|is_primary|is_chief|is_leader|is_root|global_zero|process_index"
    r"|process_id|proc_id|node_id|zero_first|is_writer|on_main|main_only|process_zero|should_save|device_idx?$|gpu_idx?$|^gpu$|^local_id$",
    re.IGNORECASE,
)
"""Identifiers by which one process is told from the others."""
MAIN: Final = re.compile(
    r"is_?(?:main|master|primary|chief|leader|root|rank_?(?:0|zero)|global_zero)|main_?process", re.IGNORECASE
)
"""Identifiers of values that are true in one process only."""
ENTRY_DECORATORS: Final = re.compile(r"main|command|app|cli|record|wrap", re.IGNORECASE)


class Origin(NamedTuple):
    """Source of a part of a value: an option (its destination), a constant, or the rank of the process."""

    kind: str
    value: Constant


class Site(NamedTuple):
    """A call with its place: number of the module, and number of the call in it."""

    module: int
    number: int
    call: Call


def _all(values: Iterable[Value]) -> Value:
    return Value(tuple(part for value in values for part in value.parts))


class Flow:
    """Values and conditions of a script and its modules.

    Parameters
    ----------
    closure
        The script with its modules.
    options
        Destinations of the script's options.
    enabled
        Destinations of the options that are true by default.
    configs
        Values of the configuration files that the script reads, by the path of the file.

    Attributes
    ----------
    enabled
        Destinations of the options that are true by default.
    modules
        Path, facts and training facts of each module; the script's path is None.
    foreign
        Top-level modules that are not in the workspace.
    """

    def __init__(
        self,
        closure: Closure,
        options: Collection[str],
        enabled: Collection[str] = (),
        configs: Mapping[str, Observed] | None = None,
    ) -> None:
        self._closure = closure
        self.enabled = frozenset(enabled)
        self.foreign = closure.foreign
        self.options = {name.rpartition(".")[2]: name for name in options} | {name: name for name in options}
        self.modules: list[tuple[str | None, Facts, Observed]] = [
            (path, facts, facts.training) for path, facts in [(None, closure.script), *closure.modules.items()]
        ]
        self.modules += [(path, Facts(), values) for path, values in (configs or {}).items()]
        self._sites: defaultdict[str, list[Site]] = defaultdict(list)
        self._attributes: defaultdict[str, list[Assigned]] = defaultdict(list)
        self._names: defaultdict[str, list[Assigned]] = defaultdict(list)
        self._owners: dict[int, Observed] = {}
        self._given: set[str] = set()
        self._guards: dict[str, bool] = {}
        self._started: set[tuple[int, str | None]] | None = None
        self._steps = 0
        for place, (_path, _facts, module) in enumerate(self.modules):
            for number, call in enumerate(module.calls):
                self._sites[call.last].append(Site(place, number, call))
                for value in (*call.args, *(value for _, value in call.keywords)):
                    self._given.update(
                        part.name for part in value.parts if isinstance(part, Ref) and part.kind != "call"
                    )
            for group, joined in ((module.attributes, self._attributes), (module.names, self._names)):
                for name, assigned in group.items():
                    joined[name] += assigned
                    self._owners.update((id(one), module) for one in assigned)

    @property
    def given(self) -> set[str]:
        """Variables and attributes that are passed to a call."""
        return self._given

    def calls(self, *names: str) -> Iterator[tuple[str | None, Observed, Call]]:
        """Yield the calls of functions with these last names that are likely to run, with path and module."""
        for site in sorted(site for name in {*names} for site in self._sites.get(name, ())):
            path, facts, module = self.modules[site.module]
            if self._runs(facts, site.call):
                yield path, module, site.call

    def calls_in(self, facts: Facts, module: Observed, names: Collection[str]) -> Iterator[Call]:
        """Yield the calls in one module of functions with these last names that are likely to run.

        Parameters
        ----------
        facts, module
            Facts and training facts of the module.
        names
            Last parts of the names of functions.
        """
        return (call for call in module.calls if call.last in names and self._runs(facts, call))

    def _runs(self, facts: Facts, call: Call) -> bool:
        return self.reaches(facts, call.line, call.scope, main=call.main)

    def reaches(self, facts: Facts, line: int, scope: Scope, *, main: bool) -> bool:
        """Return True if code in a line and scope of a module is likely to run.

        Parameters
        ----------
        facts
            Facts of the module.
        line
            Line of the code, from 1.
        scope
            Top-level function or class, and innermost function, that contain the code; None where there is none.
        main
            True for code that runs only if the module is run as a script.
        """
        return self._closure.reach.runs(facts, Place(line, "", *scope, main=main))

    def in_parent(self, call: Call, module: Observed) -> bool:
        """Return True if a call runs in the process that starts the others, and in none of these.

        Parameters
        ----------
        call
            The call.
        module
            The module that makes it.
        """
        if self._started is None:
            starts = [call for _, _, call in self.calls("spawn", "start_processes", "Process")]
            given = [start.argument(0, "fn", "target") for start in starts]
            self._started = self._closure.reach.of_functions(name for value in given if value for name in value.names)
        facts = next((facts for _path, facts, other in self.modules if other is module), None)
        own = call.main or call.scope[0] is not None  # Each process runs the other code again as it imports the script.
        return bool(self._started) and own and (id(facts), call.scope[0]) not in self._started

    # -- values --------------------------------------------------------------------------------------------------------

    def trace(self, value: Value, scope: Scope, module: Observed) -> list[Origin]:
        """Return the origins of a value's parts, in the order of the text.

        Parameters
        ----------
        value
            The value.
        scope
            Function that contains the expression.
        module
            Module that contains it.
        """
        self._steps = 0
        found: list[Origin] = []
        self._trace(value, scope, module, 0, found, set())
        return list(dict.fromkeys(found))

    def _trace(
        self, value: Value, scope: Scope, module: Observed, depth: int, found: list[Origin], seen: set[object]
    ) -> None:
        self._steps += 1
        if depth > MAX_DEPTH or self._steps > MAX_STEPS:
            return
        for part in value.parts:
            if not isinstance(part, Ref):
                found.append(Origin("constant", part))
                continue
            if part.kind != "test" and RANK.search(part.name.rpartition(".")[2]):
                found.append(Origin("rank", part.name))
            key = (part, scope if part.kind == "name" else None)
            if key in seen:
                continue
            seen.add(key)
            if part.kind == "attr":
                self._attribute(part.name, scope, module, depth, found, seen)
            elif part.kind == "call":
                self._call(part.name, module, depth, found, seen)
            elif part.kind == "name":
                self._name(part.name, scope, module, depth, found, seen)

    def _attribute(
        self, name: str, scope: Scope, module: Observed, depth: int, found: list[Origin], seen: set[object]
    ) -> None:
        last = name.rpartition(".")[2]
        option = self.options.get(name) or self.options.get(last)
        if option is not None and not name.startswith("environ."):
            found.append(Origin("option", option))
            return
        if name.startswith("environ."):
            found.append(Origin("environment", last))
            return
        for assigned in self._by_keys(name) or self._attributes.get(last, [])[:8] or self._names.get(last, [])[:4]:
            self._trace(assigned.value, assigned.scope, self._owners.get(id(assigned), module), depth + 1, found, seen)

    def _by_keys(self, name: str) -> list[Assigned]:
        """Return the values in configuration files by the longest chain of keys that a name ends with."""
        while "." in name:
            if name in self._attributes:
                return self._attributes[name]
            name = name.partition(".")[2]
        return []

    def _call(self, name: str, module: Observed, depth: int, found: list[Origin], seen: set[object]) -> None:
        last = name.rpartition(".")[2]
        found.append(Origin("call", name))
        for _path, _facts, other in self.modules:
            for value in other.returns.get(last, [])[:6]:
                self._trace(value, (last, last), other, depth + 1, found, seen)

    def _name(
        self, name: str, scope: Scope, module: Observed, depth: int, found: list[Origin], seen: set[object]
    ) -> None:
        for inner in (scope, (scope[0], None), (None, None)):
            own = [assigned for assigned in module.names.get(name, []) if assigned.scope == inner]
            if own:
                if inner == (None, None) and name in self.options:
                    found.append(Origin("option", self.options[name]))
                for assigned in own[:8]:
                    self._trace(assigned.value, assigned.scope, module, depth + 1, found, seen)
                return
            function = inner[0] if inner[1] == "__init__" else inner[1] or inner[0]
            if function and name in module.parameters.get(function, ()):
                self._parameter(function, name, module, depth, found, seen)
                return
        if name in self.options:
            found.append(Origin("option", self.options[name]))

    def _parameter(
        self, function: str, name: str, module: Observed, depth: int, found: list[Origin], seen: set[object]
    ) -> None:
        position = module.parameters[function].index(name)
        default = module.defaults.get((function, name))
        sites = self._sites.get(function, [])
        for site in sites[:6]:
            given = site.call.argument(position, name)
            if given is None:
                given = default
            if given is not None:
                self._trace(given, site.call.scope, self.modules[site.module][2], depth + 1, found, seen)
        if not sites:
            if name in self.options:
                found.append(Origin("option", self.options[name]))
            elif default is not None:
                self._trace(default, (None, None), module, depth + 1, found, seen)

    def arguments_of(self, origins: list[Origin]) -> set[str]:
        """Return the keywords and identifiers in the arguments of the calls that a value comes from."""
        made = {str(origin.value).rpartition(".")[2] for origin in origins if origin.kind == "call"}
        found: set[str] = set()
        for call in (site.call for name in made for site in self._sites.get(name, [])[:20]):
            found.update(name for name, _value in call.keywords if name)
            for value in (*call.args, *(value for _name, value in call.keywords)):
                found |= value.names
        return found

    # -- conditions ----------------------------------------------------------------------------------------------------

    def one_process(self, call: Call, module: Observed) -> bool:
        """Return True if a call runs in one process only, or if that can't be excluded.

        Parameters
        ----------
        call
            The call.
        module
            Module that contains the call.
        """
        if self._by_conditions(call.conditions) or self._guarded(call.scope, 0) or self.in_parent(call, module):
            return True
        return bool(call.conditions) and self._told_main(call.scope)

    def _told_main(self, scope: Scope) -> bool:
        """Return True if all calls of a function or class tell it by an argument which process is the main one."""
        owner, function = scope
        sites = self._sites.get((owner if function == "__init__" else function) or "", [])
        return bool(sites) and all(
            any(
                MAIN.search(name)
                for value in (*site.call.args, *(v for _, v in site.call.keywords))
                for name in value.names
            )
            for site in sites
        )

    def only_if(self, scope: Scope, names: re.Pattern[str], depth: int = 0) -> bool:
        """Return True if a function's name, or the conditions of all its calls, have certain identifiers.

        Parameters
        ----------
        scope
            Top-level function or class, and innermost function. Returns False outside of functions.
        names
            Pattern of the identifiers.
        depth
            Number of callers that were followed to the function. Callers are followed 5 deep.
        """
        owner, function = scope
        if function is None or depth > 5:
            return False
        if names.search(function):
            return True
        name = owner if function == "__init__" and owner else function
        sites = [site.call for site in self._sites.get(name, []) if site.call.scope != scope]
        return bool(sites) and all(
            any(map(names.search, site.conditions)) or self.only_if(site.scope, names, depth + 1) for site in sites
        )

    def _by_conditions(self, conditions: frozenset[str]) -> bool:
        return any(RANK.search(name) or self._derived(name) for name in conditions)

    def _derived(self, name: str) -> bool:
        """Return True if a variable is set from the rank, or only in one process, or if a function returns the rank."""
        known = self._guards.get(name)
        if known is None:
            self._guards[name] = False  # Ends the recursion.
            values = [*self._names.get(name, []), *self._attributes.get(name, [])][:12]
            known = any(any(map(RANK.search, assigned.conditions)) or self._of_rank(assigned) for assigned in values)
            known = self._guards[name] = known or self._returns_rank(name)
        return known

    def _of_rank(self, assigned: Assigned) -> bool:
        """Return True if a value is made from the rank, also through the parameters of functions."""
        owner = self._owners.get(id(assigned))
        parts = assigned.value.parts
        if owner is None or any(isinstance(part, Ref) and RANK.search(part.name) for part in parts):
            return owner is not None
        return any(origin.kind == "rank" for origin in self.trace(assigned.value, assigned.scope, owner))

    def _returns_rank(self, name: str) -> bool:
        """Return True if a function of the script returns a value that is made from the rank."""
        values = [(module, value) for _path, _facts, module in self.modules for value in module.returns.get(name, [])]
        return any(
            origin.kind == "rank" for module, value in values[:6] for origin in self.trace(value, (name, name), module)
        )

    def _guarded(self, scope: Scope, depth: int) -> bool:
        """Return True if a function runs in one process only, or if its calls are unknown."""
        owner, function = scope
        if function is None or depth > 5:
            return False
        for _path, _facts, module in self.modules:
            if any(RANK.search(word) for word in module.decorated.get(function, ())):
                return True
        name = owner if function == "__init__" and owner else function
        found = [site for site in self._sites.get(name, []) if site.call.scope != scope]
        sites = [site.call for site in found if self._runs(self.modules[site.module][1], site.call)]
        sites = sites or [site.call for site in found]
        if not sites:
            # Nobody calls the function: it is the script's entry, or others decide when it runs.
            return not (function == "main" or name in self._given or self._is_entry(function))
        return any(self._by_conditions(site.conditions) or self._guarded(site.scope, depth + 1) for site in sites)

    def _is_entry(self, function: str) -> bool:
        return any(
            any(ENTRY_DECORATORS.search(word) for word in module.decorated.get(function, ()))
            for _path, _facts, module in self.modules
        )
