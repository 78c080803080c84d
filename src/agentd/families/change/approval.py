"""Whether the specs and files of a change are still those that were approved. It only looks."""

from collections.abc import Mapping
from contextlib import suppress

from agentd.errors import AgentdError
from agentd.git import trees
from agentd.proof import record
from agentd.runs import checksums
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.state.layout import Place

SPECS = "specs/"


def warn(project: Project, place: Place) -> None:
    """Say which files are not those that were approved."""
    store = project.store(place)
    work = Work(project, project.workflow("change"), store, store.load())
    with suppress(AgentdError):
        names = [*specs_changed(work), *changed_since(work)]
        if names:
            again = f"agentd impl {place.name} --re-review"
            project.say(f"⚠ {', '.join(names[:5])} changed after it was approved; to have it reviewed again: {again}")


def specs_changed(work: Work) -> list[str]:
    """The specs that are not those of the approved plan; none where a person took the plan without its documents."""
    approval = work.state.fields.get("approval")
    documents = approval.get("documents") if isinstance(approval, Mapping) else None
    if not isinstance(documents, Mapping):
        return []
    then = {name: text for name, text in documents.items() if name.startswith(SPECS)}
    return checksums.differences(then, checksums.checksums(work, [SPECS]))


def changed_since(work: Work) -> list[str]:
    """The files that are not what was approved."""
    tree = str(record.part(work, "approved").get("tree") or "")
    now = record.tree(work) if tree else ""
    return [one.path for one in trees.changes(work.cwd, tree, now)] if tree != now else []
