"""What a person means by the words they type at a gate. Nothing counts before it was shown back to them."""

import re

APPROVED, CHANGES = "approved", "changes-requested"
SPEC, ARCHITECTURE, DESIGN = "spec", "architecture", "design"
STRATEGIES = ("per-batch", "single-final")
DEFERRED = ("deferred", "defer", "cancel", "later", "not now", "put it off")
_APPROVAL = re.compile(
    r"(?:(?:it|this|that|all|everything|the design)\s+)?(?:looks?|is|are|sounds?)?\s*(?:very\s+|really\s+|all\s+)?"
    r"(?:good|great|fine|perfect|ok|okay|approved?|lgtm|ship it|go ahead|proceed|go on|yes|agreed|accepted)"
    r"(?:\s+(?:to me|as it is|as is|then|now|please|with me|with it))*"
)
_LEADING = re.compile(r"^(?:yes|ok|okay|great|thanks|thank you|fine|i approve|i agree)[\s,;:.!-]+")
_CHANGE = re.compile(
    r"\b(?:fix|change|changes|replace|rename|remove|delete|drop|add|move|split|merge|rewrite|rework|use|make|reconsider|concerns?|concerned|"
    r"worr(?:y|ied)|but|however|except|instead|rather|should|must|need(?:s|ed)?|missing|wrong|unclear|why|don'?t|do not|not|no|"
    r"without|before|until|unless|only if|disagree|reject(?:ed)?)\b|\?"
)
_OF = {
    DESIGN: re.compile(r"\b(?:screen|layout|button|colou?rs?|ui|ux|wireframe|navigation|component|design[- ]specs?)\b"),
    SPEC: re.compile(r"\b(?:spec|scope|criteri(?:on|a)|acceptance|ac-\d+|requirements?|goals?|assumptions?)\b"),
}


def meaning(words: str) -> str:
    """`approved`, `changes-requested`, or nothing where the words could be read either way."""
    said = " ".join(words.lower().replace("’", "'").split()).strip(" .!")
    if said.startswith((APPROVED, CHANGES)) and (said in (APPROVED, CHANGES) or said[len(said.split()[0]) - 1] == ":"):
        return CHANGES if said.startswith(CHANGES) else APPROVED
    if not said:
        return ""
    if _CHANGE.search(said):
        return CHANGES
    rest = _LEADING.sub("", said)
    parts = [part.strip() for part in re.split(r"[,;.!]| and ", rest) if part.strip()]
    return APPROVED if parts and all(_APPROVAL.fullmatch(part) for part in parts) else ""


def is_deferral(words: str) -> bool:
    return " ".join(words.lower().split()).strip(" .!") in DEFERRED


def part(words: str, has_design: bool) -> str:
    """Which document a correction is about; the architecture where nothing else is named."""
    said = words.lower()
    kinds = (DESIGN, SPEC) if has_design else (SPEC,)
    return next((kind for kind in kinds if _OF[kind].search(said)), ARCHITECTURE)


def strategy(words: str) -> str:
    """The review strategy in its canonical word, or nothing."""
    said = re.sub(r"[\s_]+", "-", words.strip().lower())
    known = {"per-batch-review": STRATEGIES[0], "single-final-review": STRATEGIES[1]}
    return said if said in STRATEGIES else known.get(said, "")
