"""A private repository over https as the code of local jobs: the user's own credential helper, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import trustme

from tests.kubernetes import git_server
from tests.server.local.conftest import Place
from tests.server.local.test_snapshots import ended, output


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start a server with a certificate of an authority that the user's configuration trusts."""
    git_server.make_repositories(tmp_path / "repositories")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    certificate = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(certificate))
    server = git_server.https_server(tmp_path / "repositories", certificate, ("127.0.0.1", 0))
    host = f"127.0.0.1:{server.server_address[1]}"
    configuration = tmp_path / "gitconfig"
    configuration.write_text(
        f'[http]\n\tsslCAInfo = {tmp_path}/ca.pem\n[credential]\n\thelper = "store --file={tmp_path}/credentials"\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(configuration))
    for name in ("GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    login = f"{quote(git_server.USER)}:{quote(git_server.PASSWORD, safe='')}"
    (tmp_path / "credentials").write_text(f"https://{login}@{host}\n")
    yield f"https://{host}/code.git"
    server.shutdown()
    server.server_close()


def spec_of(spec: dict[str, Any], address: str) -> dict[str, Any]:
    source = {"kind": "git", "address": address, "submodules": True}
    return {**spec, "torchrun": None, "entrypoint": {"kind": "script", "value": "train.py"}, "source": source}


async def test_a_private_repository(place: Place, address: str, tmp_path: Path) -> None:
    """The credential helper logs in for the commit, the clone and its submodule; no password gets into the job."""
    job = await place.submit(spec_of(await place.form(), address))
    job = await ended(place, job["id"])
    assert job["phase"] == "Succeeded", job["reason"]
    assert await output(place, job["id"]) == "first part\n"
    for path in (place.home / "jobs").rglob("*"):
        assert not path.is_file() or b"a$s word" not in path.read_bytes(), path


async def test_what_keeps_a_private_repository_from_being_read(place: Place, address: str, tmp_path: Path) -> None:
    """Nothing is asked on a terminal or in a window: the answer comes at once, at the field."""
    spec, configuration = spec_of(await place.form(), address), tmp_path / "gitconfig"
    good = configuration.read_text()
    wrong = tmp_path / "credentials"
    wrong.write_text(wrong.read_text().replace("lin:", "kim:"))
    answer = await place.create(spec)
    assert (answer.status, answer.json["code"], answer.json["field"]) == (
        422, "AuthenticationFailed", "/spec/source/address",
    )  # fmt: skip
    configuration.write_text(good.partition("[credential]")[0] + "[core]\n\taskPass = sleep 600\n")
    answer = await place.create(spec)
    assert (answer.status, answer.json["code"]) == (422, "AuthenticationFailed")
    configuration.write_text("")
    answer = await place.create(spec)
    assert (answer.status, answer.json["code"]) == (422, "CertificateUnknown"), answer.json
