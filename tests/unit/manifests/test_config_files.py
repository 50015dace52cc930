"""Config files: the manifest of every kind mounts them, and has them for the ConfigMap and for the way back."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests.convert import parse, render
from jupyterlab_t9kjob.core.manifests.names import CONFIG_FILES
from jupyterlab_t9kjob.core.manifests.own_fields import without_copies
from jupyterlab_t9kjob.core.manifests.registry import KINDS
from jupyterlab_t9kjob.core.manifests.support import problems
from jupyterlab_t9kjob.core.spec import MAX_CONFIG_BYTES, ConfigFile, JobSpec

FILES = [ConfigFile(path="/etc/nccl.conf", text="NCCL_DEBUG=INFO\n"), ConfigFile(path="/opt/拓扑.xml", text="<a>é</a>")]


def spec(*files: ConfigFile, **fields: Any) -> JobSpec:
    return JobSpec.model_validate({
        "name": "train-1",
        "entrypoint": {"value": "/work/train.py"},
        "runtime": {"image": "torch:2.13"},
        "mounts": [{"claim": "work", "mount_path": "/work"}],
        "config_files": [file.model_dump() for file in files],
        **fields,
    })  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_has_them_on_the_way_there_and_back(kind: str) -> None:
    manifest = render(spec(*FILES), kind)
    read = parse(manifest)
    assert (read.spec.config_files, read.spec.extra) == (FILES, {})
    assert not [note for note in read.notes if note.code == "Kept"]
    # Without the annotation nothing is lost either: the volume stays as it is written.
    del manifest["metadata"]["annotations"][CONFIG_FILES]
    bare = parse(manifest).spec
    assert bare.config_files == [] and "t9kjob-config" in str(bare.extra)


@pytest.mark.parametrize("annotation", ["", "[", "[1]", '{"/a": 1}', "{" * 10_000, '"/a"', "null"])
def test_an_annotation_of_any_content_is_no_error(annotation: str) -> None:
    manifest = render(spec(*FILES), "kubeflow")
    manifest["metadata"]["annotations"][CONFIG_FILES] = annotation
    assert parse(manifest).spec.config_files == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("files", "found"),
    [
        (FILES, []),
        ([ConfigFile(path="etc/a", text="")], [("NotAbsolute", "/spec/config_files/0/path")]),
        ([ConfigFile(path="/etc/", text="")], [("NotAbsolute", "/spec/config_files/0/path")]),
        ([ConfigFile(path="/a:b", text="")], [("NotAbsolute", "/spec/config_files/0/path")]),
        ([FILES[0], FILES[0]], [("MountedTwice", "/spec/config_files/1/path")]),
        ([ConfigFile(path="/work", text="")], [("MountedTwice", "/spec/config_files/0/path")]),
        (
            [ConfigFile(path="/a", text="é" * (MAX_CONFIG_BYTES // 2)), ConfigFile(path="/b", text="x")],
            [("ConfigTooLarge", "/spec/config_files/1/text")],
        ),
    ],
    ids=["good", "relative", "folder", "colon", "twice", "a volume's path", "too large together"],
)
def test_what_cannot_be_mounted_is_an_error_at_its_field(kind: str, files: list[ConfigFile], found: list[Any]) -> None:
    errors = [check for check in problems(spec(*files), kind) if check.level == "error"]
    assert [(check.code, check.field) for check in errors] == found


def test_a_copy_without_secrets_has_none() -> None:
    annotations = render(spec(*FILES), "kubeflow")["metadata"]["annotations"]
    assert CONFIG_FILES in without_copies(annotations, lambda value: value)
    assert CONFIG_FILES not in without_copies(annotations, lambda value: "***")
