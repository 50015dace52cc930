"""Errors of git, in the words of git 2.39, OpenSSH 9.2 and git-sync 4.4, by the sentence that the user reads."""

from __future__ import annotations

import pytest

from jupyterlab_t9kjob.core.code.git_errors import git_code, git_texts

TLS = "fatal: unable to access 'https://h/a.git/': server certificate verification failed. CAfile: none CRLfile: none"
OPENSSL = "fatal: unable to access 'https://h/a.git/': SSL certificate problem: unable to get local issuer certificate"
NAME = "fatal: unable to access 'https://h/a.git/': SSL: certificate subject name (git) does not match target host name"
KEY = (
    '{"err":"Run(git fetch https://h/a.git ...): exit status 128: { stderr: \\"Warning: Identity file '
    "/etc/git-secret/ssh-privatekey not accessible: No such file or directory.\\nroot@h: Permission denied "
    '(publickey).\\n\\" }"}'
)
OWN_KEY = "no such identity: /home/lin/.ssh/id_rsa: No such file or directory\ngit@h: Permission denied (publickey)."


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (TLS, "CertificateUnknown"),
        (OPENSSL, "CertificateUnknown"),
        (NAME, "CertificateUnknown"),
        ("fatal: unable to access 'https://h/a.git/': The requested URL returned error: 502", "ServerFailed"),
        ("fatal: unable to access 'https://h/a.git/': The requested URL returned error: 403", "AuthenticationFailed"),
        ("fatal: unable to access 'https://h/a.git/': Could not resolve host: h", "HostUnreachable"),
        (KEY, "CredentialsMissing"),
        (OWN_KEY, "AuthenticationFailed"),
        ("No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.",
         "HostKeyUnknown"),
        ('{"msg":"can\'t read password file","err":"open /etc/git-secret/password: no such file or directory"}',
         "CredentialsMissing"),
    ],
)  # fmt: skip
def test_the_code_of_an_error(words: str, code: str) -> None:
    assert git_code(words) == code
    problem, hint = git_texts(code, "https://h/group/a.git", "")
    assert "group/a" in str(problem) and hint
