"""The words an agent is given for a step: the person's own template or the family's, filled in from the run."""

from agentd.calling.agent_call import AgentCall
from agentd.errors import BadConfig
from agentd.prompts.render import render, slots
from agentd.state import reading


def make_prompt(call: AgentCall) -> str:
    """The step's own template from `agentd/prompts/`, or that of its family; only what it asks for is looked up."""
    own = call.work.project.root / "agentd" / "prompts" / f"{call.step.name}.md"
    try:
        template, source = reading.own(own).decode().replace("\r\n", "\n"), str(own)
    except FileNotFoundError:
        template, source = call.template()
    except UnicodeDecodeError:
        raise BadConfig(f"{own}: not UTF-8 text.", f"iconv -f latin1 -t utf-8 -o {own} {own}") from None
    except OSError as error:
        raise BadConfig(f"{own}: {error.strerror}.", f"ls -l {own}") from None
    values = call.values()
    filled = {name: values[name]() for name in slots(template) if name in values}
    return render(template, filled, source, values)
