"""What is wrong with a document, and where: the value that parsers and checks give and every face shows."""

from agentd.model.severity import Severity
from agentd.values import dataclass


@dataclass(frozen=True)
class Finding:
    """One problem: the rule it breaks, the line it stands on, and what a person does about it."""

    rule: str
    message: str
    line: int = 1
    severity: Severity = "High"
    fix: str = ""
    file: str = ""
