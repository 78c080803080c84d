"""The rules that several parts of the audit report, and a harm that quotes the line it is about."""

from agentd.model.evidence import Harm

SKIPPED = "skipped_test"
HIDDEN = "hidden_failure"
KNOWS = "knows_its_tests"
COMMAND = "changed_test_command"
SETTINGS = "changed_test_settings"


def harm_at(file: str, text: str, needle: str, rule: str, message: str, quote: str = "") -> Harm:
    """A harm at the first line of a text that contains `needle`; it quotes that line unless told otherwise."""
    lines = enumerate(text.split("\n"), 1)
    number, line = next(((number, line) for number, line in lines if needle in line), (0, ""))
    return Harm(rule, message, file, number, quote or line.strip())
