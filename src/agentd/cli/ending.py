"""How a command ends: one place that turns every error into words, a fix and an exit code."""

import os
import signal
import sys
import time
from contextlib import suppress
from typing import Any

import click

from agentd import __version__
from agentd.cli.output import print_json, say
from agentd.errors import AgentdError, Interrupted

# Under this name a command finds when the program began, by the monotonic clock.
BEGUN = "agentd.begun"


def end(cli: click.Command, args: list[str], layouts: tuple[Any, ...] | None = None) -> int:
    """Run the command line and give the exit code: 0, 1 expected error, 2 usage, 3 bug, 4 waiting, 128+n signal."""
    as_json, begun = "--json" in args, time.monotonic()
    try:
        with cli.make_context("agentd", args, obj=layouts) as context:
            context.meta[BEGUN] = begun
            result = cli.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 2
    except click.ClickException as error:
        usage = getattr(error, "ctx", None)
        path = usage.command_path if usage else "agentd"
        return _fail(as_json, "UsageError", error.format_message(), f"{path} --help", 2)
    except AgentdError as error:
        return _fail(as_json, error.name, error.message, error.fix, error.code, error)
    except (KeyboardInterrupt, click.Abort):
        return _fail(as_json, "Interrupted", "Interrupted; the same command goes on where it stopped.", "", 130)
    except Interrupted as error:
        # Python hands signals back to the system before it ends, and one more ^C would change the exit code.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        return _fail(as_json, "Interrupted", f"Interrupted; {error.again} goes on where it stopped.", "", error.code)
    except BrokenPipeError:
        # The reader has gone (`agentd log | head`): nobody is left to be told anything.
        _forget_stdout()
        return 0
    except OSError as error:
        return _fail(
            as_json,
            "DiskTrouble",
            f"{error.filename or 'output'}: {error.strerror}.",
            f"ls -ld {error.filename or '.'}",
            1,
        )
    except Exception as error:
        return _bug(as_json, error)


def _fail(as_json: bool, name: str, message: str, fix: str, code: int, error: AgentdError | None = None) -> int:
    error = error or AgentdError(message)
    try:
        if as_json:
            print_json({"ok": False, "error": name, "message": message, **error.data(), "fix": fix, "exit": code})
            sys.stdout.flush()
        else:
            for line in error.lines():
                say(line, err=True)
            if fix:
                say(f"Fix:   {fix}", err=True)
    except OSError:
        _forget_stdout()  # a closed terminal or a full disk takes no words; the exit code still tells
    return code


def _forget_stdout() -> None:
    """Nothing more can be said there, and what is still buffered must not fail at the very end."""
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug(as_json: bool, error: Exception) -> int:
    import platform
    import traceback

    report = "".join(traceback.format_exception(error)).rstrip()
    where = f"agentd {__version__}, Python {platform.python_version()}, {platform.system()} {platform.release()}"
    if as_json:
        print_json({"ok": False, "error": "Bug", "message": str(error), "report": f"{where}\n{report}", "exit": 3})
    else:
        say(
            f"Error: this is a defect in agentd, and nothing saved was lost. Please report:\n{where}\n{report}",
            err=True,
        )
    return 3
