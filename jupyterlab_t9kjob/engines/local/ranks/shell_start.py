"""Becomes a shell or program, with the standard input as its terminal if that is one; the server runs this file.

The server has threads, so it can't prepare the child between fork and exec. Standard library only.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios


def main() -> None:
    """Take the terminal as the controlling one, reset the signals, and run the command of the arguments."""
    # The parent has made this process the leader of a new session, which has no terminal yet.
    if os.isatty(0):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)  # A server that was started with nohup ignores SIGHUP.
    command = sys.argv[1:]
    try:
        os.execvp(command[0], command)  # noqa: S606 (the command is the shell)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        # A shell's exit codes: 127 if there is no such program, 126 if it can't be run.
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


if __name__ == "__main__":
    main()
