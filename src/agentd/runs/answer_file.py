"""Answers that a person wrote down before a run: from a YAML file, or from data of that shape."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentd.errors import Corrupt, UsageError
from agentd.model.decision import Answer, Decision
from agentd.patterns import regex
from agentd.text import lossless_yaml

_NUMBERED = regex(r"UD-[A-Z](\d+)-1")


def from_file(path: Path) -> Callable[[Decision], Answer | None]:
    """Answers from a YAML file."""
    try:
        data = lossless_yaml.parse_bytes(path.read_bytes(), str(path)).data
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.", f"printf 'steer: [fix]\\n' > {path}") from None
    except Corrupt as error:
        raise UsageError(error.message, error.fix) from None
    return from_data(data, path.name)


def from_data(data: Mapping[str, Any], by: str) -> Callable[[Decision], Answer | None]:
    """Answers by decision id or by the name of the step that asks; each is used once, a list one after the other.

    An answer that needs a reason is a mapping of `value` and `note`. Of questions that are asked of numbered items (Q1,
    Q2 …) the second answer is for the second one, also when the first was answered before.
    """
    left = {key: list(said) if isinstance(said, list) else [said] for key, said in data.items()}
    numbered: dict[str, list[Any]] = {}

    def ask(decision: Decision) -> Answer | None:
        key, listed = decision.id, left.get(decision.id)
        number = _NUMBERED.fullmatch(decision.id)
        if not listed and number:
            every, at = left.get(decision.name, []), int(number[1])
            listed = numbered.setdefault(key, every[at - 1 : at])
        elif not listed:
            key, listed = decision.name, left.get(decision.name)
        if not listed:
            return None
        said = listed.pop(0)
        note = ""
        if isinstance(said, Mapping) and "value" in said:
            said, note = said["value"], str(said.get("note") or "")
        if said is None:
            return None
        if not isinstance(said, (str, int, float)):
            raise UsageError(
                f"{by}: {key}: {said!r} is no answer.", f"{key}: one word, or {{value: yes, note: because}}"
            )
        # YAML reads yes and no as true and false.
        word = {True: "yes", False: "no"}[said] if isinstance(said, bool) else str(said)
        return Answer(decision.id, word, note=note, by=by)

    return ask
