"""Converts a `JobSpec` to the manifest of a cluster's engine, and back.

This package is used as follows::

    manifest = render(spec, "t9k", context=Context(namespace="team-a"), dialect=dialect)
    parsed = parse(manifest)          # object from a cluster
    parsed = read_job(text)           # untrusted YAML that a user pasted
    checks = problems(spec, "kubeflow")
    spec, notes = cross(spec, "t9k", "kubeflow", capabilities)

No function of the package sends requests to a cluster. The modules are:

===============================  ======================================================================
`.convert`                       `render` and `parse`: the steps that all kinds share
`.registry`                      the registered kinds
`.kinds.formats`                 `Format`, the declaration of a kind
`.kinds.t9k_kind`                PyTorchTrainingJob as a registered kind
`.kinds.pytorchjob_kind`         PyTorchJob as a registered kind
`.kinds.indexed_job_kind`        Indexed Job of Kubernetes as a registered kind
`.own_fields`                    annotations and environment variables that we add to a manifest
`.common_names`                  valid names for a spec, and the patch that restores a manifest's own names
`.kinds.t9k`, `.kinds.t9kboard`  PyTorchTrainingJob in its current dialect
`.kinds.dialect`                 the older dialect of PyTorchTrainingJob, detection, translation
`.kinds.pytorchjob`              PyTorchJob
`.kinds.indexed_job`             Indexed Job of Kubernetes
`.kinds.jobset`                  JobSet with one Indexed Job, and as a registered kind
`.kinds.trainer`                 TrainJob in its spellings, and as a registered kind
`.kinds.torchrun`                the torchrun command that jobs of ours have, and those that users write
`.kinds.pod_template`            conversion between a replica type and a pod template
`.kinds.pod_security`            the restricted Pod Security Standard
`.kinds.shapes`                  fields of the kinds, and their types
`.entrypoints`                   conversion between an entrypoint and a command line
`.remainder`                     annotation with the parts of a spec that a manifest has no field for
`.text.merge_patch`              JSON merge patches that change single items of lists
`.crossing`                      adapts a job of one engine to another
`.support`                       problems of a spec on a kind, each with its field
`.leaks`                         warnings about secrets in plain text
`.pasted`                        reads the job in a text that a user pasted
`.text.yaml_reader`              YAML parser with limits and positions
`.text.reindent`                 restores indentation that a web page removed
`.text.yaml_writer`              YAML in the order that people use
`.text.yaml_editor`              changes values in a YAML text and keeps its comments and order
`.schema`                        fields that a cluster accepts, and comparison with them
`.names`                         names of annotations, labels and variables that we write
===============================  ======================================================================
"""

from __future__ import annotations

from .convert import not_in_spec, parse, render
from .crossing import cross, launched
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
    "launched",
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
