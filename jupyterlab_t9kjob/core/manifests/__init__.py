"""`JobSpec` ⇄ the manifests of the clusters' engines.

The door of this package::

    manifest = render(spec, "t9k", context=Context(namespace="team-a"), dialect=dialect)
    parsed = parse(manifest)          # of a cluster
    parsed = read_job(text)           # pasted by a user: YAML, hostile
    checks = problems(spec, "kubeflow")
    spec, notes = cross(spec, "t9k", "kubeflow", capabilities)

Nothing in here asks a cluster anything. The parts:

===============================  ======================================================================
`.convert`                       `render` and `parse`: what both kinds share
`.registry`                      the registered kinds
`.kinds.formats`                 what a kind declares
`.kinds.t9k_kind`                PyTorchTrainingJob as a registered kind
`.kinds.pytorchjob_kind`         PyTorchJob as a registered kind
`.own_fields`                    what we add beside the spec: annotations, environment
`.common_names`                  names that a spec can have, and the way back to a manifest's own
`.kinds.t9k`, `.kinds.t9kboard`  PyTorchTrainingJob, in its current spelling
`.kinds.dialect`                 the older spelling of it, and how to tell
`.kinds.pytorchjob`              PyTorchJob, with our torchrun command
`.kinds.pod_template`            a replica type ⇄ a pod template
`.entrypoints`                   an entrypoint ⇄ the words of a command
`.remainder`                     what a manifest can't say of a spec
`.text.merge_patch`              JSON merge patches that reach single items of lists
`.crossing`                      from one engine to another
`.kinds.shapes`                  the fields that the kinds have, and their types
`.support`                       what a kind can't do, and what can't be right, at the field
`.leaks`                         what looks like a secret in plain sight
`.pasted`                        from a text that somebody pasted to a job
`.text.yaml_reader`              YAML with limits and positions
`.text.reindent`                 indentation that got lost on the way
`.text.yaml_writer`              YAML as people write it
`.names`                         every name that we put on a cluster's objects
===============================  ======================================================================
"""

from __future__ import annotations

from .convert import not_in_spec, parse, render
from .crossing import cross
from .entrypoints import rank_logs
from .kinds.dialect import CURRENT, OLDER, Dialect, translate
from .leaks import leaks
from .model import Context, Kind, ManifestError, Parsed
from .pasted import Pasted, places_of, read_job
from .registry import KINDS
from .support import problems
from .text.merge_patch import vanished
from .text.yaml_writer import to_yaml

__all__ = [
    "CURRENT",
    "KINDS",
    "OLDER",
    "Context",
    "Dialect",
    "Kind",
    "ManifestError",
    "Parsed",
    "Pasted",
    "cross",
    "leaks",
    "not_in_spec",
    "parse",
    "places_of",
    "problems",
    "rank_logs",
    "read_job",
    "render",
    "to_yaml",
    "translate",
    "vanished",
]
