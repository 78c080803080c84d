"""The outcome an agent states in words: a structured last line, never a word found somewhere in its prose."""

import json
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Stated:
    """The outcome found, or why none can be taken from the reply."""

    word: str = ""
    problem: str = ""


def find_outcome(text: str, allowed: Collection[str]) -> Stated:
    """Reads lines that are a JSON object with the key `outcome`; two that disagree are no outcome at all."""
    words = []
    fenced = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or not (line.startswith("{") and line.endswith("}")):
            continue
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and "outcome" in value:
            words.append(value["outcome"])
    return judge(words, allowed)


def judge(words: Collection[object], allowed: Collection[str]) -> Stated:
    """One allowed word, said once or several times, is an outcome; anything else is a problem."""
    different = list(dict.fromkeys(map(str, words)))
    if not different:
        return Stated(problem="the reply states no outcome")
    if len(different) > 1:
        return Stated(problem=f"the reply states different outcomes: {', '.join(different)}")
    word = different[0].strip().lower()
    if word not in allowed:
        return Stated(problem=f"the reply states '{different[0]}', which is none of {', '.join(allowed)}")
    return Stated(word)
