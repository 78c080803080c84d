"""What a person means by the words they type at a gate. Nothing counts before it was shown back to them."""

import re

from agentd.patterns import regex

APPROVED, CHANGES = "approved", "changes-requested"
SPEC, ARCHITECTURE, DESIGN = "spec", "architecture", "design"
STRATEGIES = ("per-batch", "single-final")
DEFERRED = ("deferred", "defer", "cancel", "later", "not now", "put it off")
# A part of an answer approves only if it is nothing but one of these: any other word in it, and it does not.
_APPROVAL = regex(
    r"(?:(?:it|this|that|all|everything|i|we|the (?:whole )?(?:design|spec|specification|architecture|plan)) )?"
    r"(?:(?:looks?|is|are|sounds?|seems?|do|think (?:it|this) (?:is|looks)) )?(?:very |really |all |just |perfectly |also )?"
    r"(?:(?:good|fine|great|perfect|excellent|ok|okay)(?: enough| to go)?|works? for (?:me|us)|approved?|accept(?:ed)?|agreed?|lgtm|sgtm|wfm|"
    r"ship it|go ahead|proceed|go on|go for it|let's (?:do it|go|proceed|go ahead)|(?:i'm |i am )?happy with (?:it|this|that|the design)|"
    r"no objections?|yes|yep|\+1|:\+1:|:shipit:)"
    r"(?: (?:to|for|from|by|with) (?:me|us)| as (?:it )?is| as it stands| as well| then| now| please| with (?:it|this))*"
)
_COURTESY = regex(
    r"(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:again|a lot|so much|very much))?(?: for [\w']+(?: [\w']+){0,13}| (?!no\b)\w+)?|"
    r"(?:very )?(?:nice|beautiful|awesome|(?:nice|great|good|excellent|awesome|well) (?:work|job|stuff|done|catch|idea|one))|"
    r"no (?:further |more )?(?:comments?|concerns?|questions?|changes(?: needed)?)"
)
_WISH = regex(r"\b(?:please|could|would|can|but|not|fix|change|rename|remove|add|use|make|need|should|must)\b")
_THUMB = regex("[👍✅🚢🚀]")
_DECORATION = regex("[\U0001f3fb-\U0001f3ff\ufe0f❤💯🎉🙏🙂😀-😄]|@[\\w-]+|(?<!\\w)[:;] ?-?[)d]")
_CHANGE = regex(
    r"\b(?:fix|fixed|change|changes|replace|rename|remove|delete|drop|add|move|split|merge|rewrite|rework|use|make|reconsider|concerns?|"
    r"concerned|worr(?:y|ied)|but|however|except|instead|rather|should|must|need(?:s|ed)?|missing|wrong|unclear|why|don'?t|do not|not|no|"
    r"without|before|until|unless|if|once|disagree|reject(?:ed)?|nits?|modulo|otherwise|apart from|aside from|besides|pending|assuming|"
    r"suggest\w*|comments?|typos?|errors?|questions?|though|although|almost|please|could|would|can)\b|\?"
)
_OF = {
    DESIGN: regex(r"\b(?:screen|layout|button|colou?rs?|ui|ux|wireframe|navigation|component|design[- ]specs?)\b"),
    SPEC: regex(r"\b(?:spec|scope|criteri(?:on|a)|acceptance|ac-\d+|requirements?|goals?|assumptions?)\b"),
}


def meaning(words: str) -> str:
    """`approved`, `changes-requested`, or nothing where the words could be read either way."""
    said = _DECORATION.sub(" ", _THUMB.sub(". +1. ", words.lower().replace("’", "'")))
    said = " ".join(said.split())
    parts = [part.strip(" -()") for part in re.split(r"[,;.!]+(?=\s|$)| -+ |—|–", said)]
    wanted = [part for part in parts if part and not _is_courtesy(part)]
    if wanted and all(_APPROVAL.fullmatch(each) for part in wanted for each in part.split(" and ")):
        return APPROVED
    return CHANGES if said.startswith(f"{CHANGES}:") or _CHANGE.search(said) else ""


def _is_courtesy(part: str) -> bool:
    return bool(_COURTESY.fullmatch(part)) and not _WISH.search(part)


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
