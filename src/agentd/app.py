"""The house put together: the families there are, and a project opened with them."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agentd.errors import BadConfig
from agentd.families import change, own, staged, team
from agentd.model.decision import Answer, Decision
from agentd.model.moment import Moment
from agentd.runs.config import read_config
from agentd.runs.layout import Layout
from agentd.runs.project import Project, look_at_project
from agentd.state.layout import find_root

LAYOUTS: tuple[Layout, ...] = (change.LAYOUT, team.LAYOUT, staged.LAYOUT, own.LAYOUT)


def open_project(
    cwd: Path | None = None,
    ask: Callable[[Decision], Answer | None] = lambda decision: None,
    say: Callable[[str], None] = lambda text: None,
    watch: Callable[[Moment], None] = lambda moment: None,
    attended: bool = False,
    layouts: tuple[Layout, ...] = LAYOUTS,
) -> Project:
    """The project around a folder, as it is; a command that writes takes it as `runs/recovery.py` leaves it."""
    return replace(look_at_project(layouts, cwd), ask=ask, say=say, watch=watch, attended=attended)


def open_anyway() -> tuple[Project, BadConfig | None]:
    """The project around the working folder; if its configuration cannot be read, with the defaults, and the reason."""
    try:
        return open_project(), None
    except BadConfig as error:
        defaults = read_config(Path(os.devnull), LAYOUTS, env={})
        return Project(find_root(Path.cwd()), defaults, LAYOUTS), error
