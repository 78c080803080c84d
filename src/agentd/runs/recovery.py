"""What a command that was cut off left half done, finished before the next command that writes begins."""

from agentd.runs import borrowed_files, unfinished
from agentd.runs.project import Project


def recovered(project: Project) -> Project:
    """The project with nothing in it half done."""
    borrowed_files.put_back_left(project.root, project.say)
    found = unfinished.read(project.root)
    if found is None:
        return project
    layout = project.layout(found.family)
    finished: Project = layout.find(layout.recover)(project) if layout.recover else project
    return finished
