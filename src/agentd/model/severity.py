"""How bad it is that a rule is broken."""

from typing import Literal

Severity = Literal["High", "Medium", "Low"]
SEVERITIES: tuple[Severity, ...] = ("High", "Medium", "Low")
