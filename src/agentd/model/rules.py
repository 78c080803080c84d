"""The rules documents are checked by: the `[validation]` section of the configuration as a value."""

from collections.abc import Mapping
from dataclasses import field

from agentd.model.severity import Severity
from agentd.values import dataclass

SEVERITY: Mapping[str, Severity] = {
    "unreadable_file": "High",
    "missing_document": "High",
    "missing_frontmatter": "High",
    "invalid_frontmatter": "High",
    "invalid_value": "High",
    "missing_heading": "High",
    "invalid_requirement_format": "High",
    "duplicate_requirement": "High",
    "missing_scenario": "High",
    "missing_when_then": "High",
    "invalid_task": "High",
    "unknown_spec": "High",
    "unknown_requirement": "High",
    "unknown_task": "High",
    "circular_dependency": "High",
    "absolute_path": "High",
    "invalid_review": "High",
    "duplicate_heading": "Medium",
    "broken_reference": "Medium",
    "placeholder": "Medium",
    "missing_issues": "Medium",
    "missing_spec": "Medium",
    "uncovered_requirement": "Medium",
    "claimed_twice": "Medium",
    "different_affected_specs": "Medium",
    "stale_checksum": "Low",
    "orphan_spec": "Low",
    "untidy": "Low",
}


@dataclass(frozen=True)
class Rules:
    """What a person may set. A pattern that is empty holds for everything."""

    required_headings: tuple[str, ...] = ("Overview", "Acceptance Criteria")
    requirement_pattern: str = ""
    scenario_pattern: str = ""
    scenario_min_count: int = 1
    require_when_then: bool = True
    when_pattern: str = r"\*\*WHEN\*\*|WHEN"
    then_pattern: str = r"\*\*THEN\*\*|THEN"
    severity_map: Mapping[str, Severity] = field(default_factory=dict)

    def severity(self, rule: str) -> Severity:
        """How bad breaking a rule is."""
        return self.severity_map.get(rule) or SEVERITY[rule]
