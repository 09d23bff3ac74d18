"""The command as a user calls it: within this process, which is quick, or in one of its own."""

import io
import logging
import os
import subprocess
import sys
import warnings
from contextlib import chdir, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from partita.cli.main import main

ENVIRONMENT = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


def process(*words, stdin=None, cwd=None):
    """In a process of its own: what it leaves behind, prints while it compiles or is told by its environment."""
    command = [sys.executable, "-m", "partita", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=cwd, env=ENVIRONMENT, timeout=120)


def partita(*words, stdin=None, cwd=None):
    """The same exit code and output without the start of a process; a traceback comes through as the exception."""
    streams = SimpleNamespace(
        stdin=_stream(stdin or ""), stdout=_stream(""), stderr=_stream(""), argv=["partita", *map(str, words)]
    )
    before, news = warnings.showwarning, logging.getLogger("partita")
    handlers, level = list(news.handlers), news.level
    code = 0
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), chdir(cwd) if cwd else nullcontext():
        for name in vars(streams):
            patch.setattr(sys, name, getattr(streams, name))
        patch.setenv("COLUMNS", "200"), patch.setenv("NO_COLOR", "1")
        warnings.simplefilter("default")  # as in a process of its own, where a warning is no error
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            warnings.showwarning = before
            news.handlers[:] = handlers
            news.setLevel(level)
    return SimpleNamespace(returncode=code, stdout=_text(streams.stdout), stderr=_text(streams.stderr))


def _stream(text):
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", write_through=True)


def _text(stream):
    stream.flush()
    return stream.buffer.getvalue().decode()


def write_csv(path, rows):
    Path(path).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path
