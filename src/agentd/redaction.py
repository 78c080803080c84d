"""Takes secrets out of text before anything is logged. It never says what it took out."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache

from agentd.patterns import regex

MARKER = "[redacted]"
SHORTEST = 8

# Every pattern either fails within a bounded number of characters or consumes what it scanned, so that a line of any
# shape takes linear time. The group `keep` stays in the text. The words on the left are what a text must contain,
# in lower case, for the pattern to be tried at all.
_AFTER = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_QUOTE = r"""\\{0,7}["']"""
_QUOTED = r"""[^"'\\\r\n]++(?:\\/[^"'\\\r\n]*+)*+"""
_HEADER = r"(?:authorization|x-api-key|x-goog-api-key|api-key|x-auth-token|private-token)"
_FIELD = r"(?:api_?key|access_?token|refresh_?token|id_?token|client_?secret)"
_SCHEME = r"(?:bearer|basic|token|apikey)[ \t]{1,4}"
_PEM = r"-----%s [A-Z0-9 ]{0,40}PRIVATE KEY-----"
_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (tuple(hints.split()), regex(pattern, re.ASCII))
    for hints, pattern in (
        # A key that ends is taken whole; one that was cut off, as far as it looks like a key.
        ("private", rf"{_PEM % 'BEGIN'}[^-]*+(?:-(?!----)[^-]*+)*+{_PEM % 'END'}"),
        ("private", rf"(?P<keep>{_PEM % 'BEGIN'})(?:(?:\s|\\{{1,4}}[nr]){{0,16}}[A-Za-z0-9+/=]{{20,}})+"),
        ("authorization -key -token", rf"(?i)(?P<keep>{_HEADER}(?:{_QUOTE})?\s{{0,4}}[:=]\s{{0,4}}{_QUOTE}){_QUOTED}"),
        ("authorization", rf"(?i)(?P<keep>authorization\s{{0,4}}[:=]\s{{0,4}}{_SCHEME})[\w.~+/=:-]{{6,}}"),
        ("authorization", r"(?i)(?P<keep>authorization\s{0,4}[:=]\s{0,4})[\w.~+/=:-]{16,}"),
        ("-key -token", rf"(?i)(?P<keep>{_HEADER}\s{{0,4}}[:=]\s{{0,4}})[\w.~+/=:-]{{8,}}"),
        ("key token secret", rf"(?i)(?P<keep>{_FIELD}{_QUOTE}\s{{0,4}}:\s{{0,4}}{_QUOTE})[\w.~+/=:-]{{16,}}"),
        ("bearer", r"(?i)(?P<keep>bearer[ \t]{1,4})[\w.~+/=-]{20,}"),
        ("://", r"""(?P<keep>://[^\s/?#@:"'\\]{0,256}:)[^\s/"'\\<>]{1,1024}(?=@)"""),
        ("sk-ant-", r"sk-ant-[\w-]{10,}"),
        ("sk-", rf"{_AFTER}sk-(?:[A-Za-z0-9]{{20,}}|(?:proj|svcacct|admin|or|lf)-[\w-]{{16,}})[\w-]*"),
        ("k_live_ k_test_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,}"),
        ("github_pat_ glpat-", r"(?:github_pat_|glpat-)[\w-]{16,}"),
        ("npm_ hf_", rf"{_AFTER}(?:npm|hf)_[A-Za-z0-9]{{30,}}"),
        ("aiza ya29.", r"(?:AIza|ya29\.)[\w-]{30,}"),
        ("xox", r"xox[a-z]-[\w-]{10,}"),
        ("akia asia", r"A[KS]IA[A-Z0-9]{16,}"),
        ("eyj", r"eyJ[\w-]{8,}+(?P<rest>\.[\w-]{8,}+\.[\w-]*+)?"),
    )
)

_KEY_BEGIN, _KEY_END = (regex(_PEM % word) for word in ("BEGIN", "END"))
_KEY_PART = regex(r"[A-Za-z0-9+/=]{1,128}|[A-Z][A-Za-z-]{1,40}: .{0,200}|")  # its lines, and the headers of an old one
_KEY_LINE = regex(r"^[A-Za-z0-9+/=]{40,}$", re.MULTILINE)
_SECRET_NAME = regex(
    r"(?i)(?:keys?|tokens?|secrets?|passw(?:or)?ds?|pass|passphrase|credentials?|auth|(?<![a-z])pat)(?![a-z])"
)
_PASSWORD_NAME = regex(r"(?i)pass|secret")
_HARMLESS = regex(r"(?i)[a-z]+(?:[-_. ][a-z]+)*|[\d.]+|https?://[^@\s]+")
_PATH = regex(r"(?:~|\.\.?)?/[A-Z]?[a-z.-]+\d?(?:/|$)|[A-Za-z]:\\")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with everything that looks like a secret, and each given one in plain or JSON form, marked instead."""
    literals = _forms(tuple(secrets))
    while True:
        lower = text.lower()
        rules = [pattern for hints, pattern in _RULES if any(hint in lower for hint in hints)]
        # What is between the markers is cleaned until nothing changes: each round leaves less of it.
        clean = MARKER.join(_clean(part, literals, rules) for part in text.split(MARKER))
        if clean == text:
            return text
        text = clean


class Stream:
    """Cleans line by line, and knows a private key whose lines come one by one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets = tuple(secrets)
        self.in_key = False

    def clean(self, line: str) -> str:
        if self.in_key and not _KEY_PART.fullmatch(line.strip()):
            self.in_key = False
        if self.in_key:
            return MARKER
        self.in_key = bool(_KEY_BEGIN.search(line)) and not _KEY_END.search(line)
        return redact(line, self.secrets)


def secret_values(env: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables named like secrets, but for paths, numbers, addresses and plain words."""
    return tuple(dict.fromkeys(value.strip() for name, value in env.items() if _is_secret(name, value.strip())))


def _is_secret(name: str, value: str) -> bool:
    if len(value) < SHORTEST or not _SECRET_NAME.search(name) or _PATH.match(value):
        return False
    return bool(_PASSWORD_NAME.search(name)) or not _HARMLESS.fullmatch(value)


@lru_cache(maxsize=8)
def _forms(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """How each secret may be written: plain, in JSON, in JSON within JSON; and line by line if it is a long key."""
    from urllib.parse import quote  # not cheap, and most texts are cleaned of nothing by name

    forms: set[str] = set()
    for secret in secrets:
        if len(secret) >= SHORTEST:
            forms.update((secret, *_KEY_LINE.findall(secret)))
            for ascii_only in (True, False):
                once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
                forms.update((once, json.dumps(once)[1:-1]))
            forms.add(quote(secret, safe=""))
            forms.add(b64encode(secret.encode(errors="replace")).decode().rstrip("="))
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _clean(part: str, literals: tuple[str, ...], rules: list[re.Pattern[str]]) -> str:
    for literal in literals:
        part = part.replace(literal, MARKER)
    for rule in rules:
        part = rule.sub(_mark, part)
    return part


def _mark(match: re.Match[str]) -> str:
    groups = match.groupdict("")
    if groups.get("rest") == "":
        return match[0]
    return groups.get("keep", "") + MARKER
