"""The house put together: the families there are, and a project opened with them."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agentd.errors import BadConfig
from agentd.families import change, own, staged, team
from agentd.model.decision import Answer, Decision
from agentd.model.moment import Moment
from agentd.runs import borrowed_files, unfinished
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
    writes: bool = False,
) -> Project:
    """The project around a folder, as it is. If it `writes`, what a command that was cut off left half done is finished."""
    project = replace(look_at_project(layouts, cwd), ask=ask, say=say, watch=watch, attended=attended)
    if writes:
        borrowed_files.put_back_left(project.root, say)
    found = unfinished.read(project.root) if writes else None
    if found is not None:
        layout = project.layout(found.family)
        project = layout.find(layout.recover)(project) if layout.recover else project
    return project


def open_anyway() -> tuple[Project, BadConfig | None]:
    """The project around the working folder; if its configuration cannot be read, with the defaults, and the reason."""
    try:
        return open_project(), None
    except BadConfig as error:
        defaults = read_config(Path(os.devnull), LAYOUTS, env={})
        return Project(find_root(Path.cwd()), defaults, LAYOUTS), error
