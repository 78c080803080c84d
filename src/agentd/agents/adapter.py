"""An adapter: two functions that drive an agent's program, and the facts about that program."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from agentd.model.job import Command, Job, Reply
from agentd.model.models import AgentModel


class Abilities(NamedTuple):
    """What an agent's program can do, each in a word or two for the table in the docs; empty where it cannot."""

    resume: str = ""
    usage: str = ""
    cost: str = ""
    turn_cap: str = ""
    cost_cap: str = ""
    allow_list: str = ""
    structured_output: str = ""
    effort: str = ""


class Folder(NamedTuple):
    """Where an agent keeps its own files: `path` below the home folder, or `below` in the folder that `variable` names.

    It is named after the agent's program.
    """

    path: str
    variable: str = ""
    below: str = ""

    def places(self, home: str, env: Mapping[str, str]) -> list[str]:
        """Where the folder may be; the agent uses the first one."""
        moved = env.get(self.variable)
        return [*([os.path.join(moved, self.below)] if moved else []), os.path.join(home, self.path)]


class Traces(NamedTuple):
    """What a login leaves behind.

    variables  environment variables, each of which is a login
    files      in the agent's first folder
    keychain   whether macOS may keep the login in its keychain instead
    setting    the key of the agent's section that names the variable
    optional   whether the agent also works without a login
    """

    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    keychain: bool = False
    setting: str = ""
    optional: bool = False


class Adapter(NamedTuple):
    """One agent: how a job becomes a program, how the program's output becomes a reply, and everything else that differs
    from agent to agent.

    program           what has to be on the PATH; `command` in the agent's section of the configuration names another one
    install           what to type where it is not installed, and `login` where nobody is logged in
    turns             the types of event that are turns: counted by agentd where the program has no cap of its own
    package           the Python package that it needs
    needs             the key of the agent's section that has no default and must be set
    models            an example of the setting of this name, and `default_model` one of `default`: without any in the
                      configuration the program uses the model that its person chose in its own settings
    listing           the words that have the program list the models it knows
    answered_by       which model a conversation was held with, from its own files, where its output does not tell
    efforts           the values that `reasoning` of a model may have; any if there are none
    traces            how to recognize a login; None if that is not possible
    served            what the agent puts before the names of agentd's tools
    tools_fix         what to do if the agent does not ask for agentd's tools and only its owner can change that
    conversations     how the names of the files begin in which it keeps its conversations, in `calls/` of the run
    folders           where it keeps its own files, the one with its login first; `home_files` are single files at home
    settings          files in its folders that say which programs it starts and what it is told
    project_settings  the same for one project, at the top of the work tree. Whole folders: a file in a folder that may
                      be moved away is not protected.
    credentials       where other programs keep a login that this agent uses too if a variable is set, by the variable
    temp_variable     the variable that names its temporary folder
    author            the agent as a co-author of a commit
    """

    name: str
    command: Callable[[Job], Command]
    read: Callable[[Iterable[str]], Reply]
    program: str = ""
    install: str = ""
    login: str = ""
    turns: tuple[str, ...] = ()
    can: Abilities = Abilities()
    package: str = ""
    needs: Literal["", "command", "models", "script"] = ""
    models: tuple[AgentModel, ...] = ()
    default_model: str = ""
    listing: tuple[str, ...] = ()
    answered_by: Callable[[str, Sequence[str]], str] | None = None
    efforts: tuple[str, ...] = ()
    traces: Traces | None = None
    served: str = ""
    tools_fix: str = ""
    conversations: str = ""
    folders: tuple[Folder, ...] = ()
    home_files: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    project_settings: tuple[str, ...] = ()
    credentials: Mapping[str, str] = MappingProxyType({})
    temp_variable: str = ""
    author: str = ""
