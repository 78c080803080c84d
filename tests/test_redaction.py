"""Secrets never survive redaction, in any form they are usually written in; ordinary text does."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.redaction import MARKER, redact, secret_values

LONG = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG3iL6oR9u"
HEX = "0123456789abcdef" * 3
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P-lFUP0THsR8"
SECRET = 'pä"ss\\wo\nrd'
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{LONG}\n{HEX}\n-----END RSA PRIVATE KEY-----"

SHAPES = {
    "anthropic": f"sk-ant-api03-{LONG}-AA",
    "anthropic login": f"sk-ant-oat01-{LONG}",
    "openai": f"sk-{LONG}",
    "openai project": f"sk-proj-{LONG}_x-{LONG}",
    "openrouter": f"sk-or-v1-{HEX}",
    "github": f"ghp_{LONG[:36]}",
    "github login": f"gho_{LONG[:36]}",
    "github fine-grained": f"github_pat_11ABCDEFG0_{LONG}",
    "google": f"AIza{LONG[:35]}",
    "google login": f"ya29.{LONG}",
    "slack": f"xoxb-123456789012-{LONG[:24]}",
    "slack user": f"xoxp-123456789012-{LONG[:24]}",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "jwt": JWT,
    "pem": PEM,
}


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(
    "around",
    ["{}", "the key is {}.", "KEY={}", "a\\n{}\\n", "({})", '"{}"', "x\t{}\ty", "https://host/?k={}&z=1"],
)
def test_a_known_shape_is_redacted_wherever_it_stands(secret: str, around: str) -> None:
    assert redact(around.format(secret)) == around.format(MARKER)


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_known_shape_is_redacted_in_json_of_any_depth(secret: str, depth: int) -> None:
    text = f"first\n{secret}\nlast"
    for _ in range(depth):
        text = json.dumps({"text": text})
    clean = redact(text)
    for _ in range(depth):
        clean = json.loads(clean)["text"]
    assert clean == f"first\n{MARKER}\nlast"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer abc123", f"Authorization: Bearer {MARKER}"),
        ("authorization: Basic dXNlcjpwYXNz", f"authorization: Basic {MARKER}"),
        (f"AUTHORIZATION: {LONG}", f"AUTHORIZATION: {MARKER}"),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz\r\nHost: x", f"Proxy-Authorization: Basic {MARKER}\r\nHost: x"),
        ("curl -H 'Authorization: Bearer abc123' https://x", f"curl -H 'Authorization: Bearer {MARKER}' https://x"),
        ("x-api-key: abcd1234", f"x-api-key: {MARKER}"),
        ("X-Goog-Api-Key: abcd1234", f"X-Goog-Api-Key: {MARKER}"),
        ('{"authorization": "Bearer abc"}', f'{{"authorization": "{MARKER}"}}'),
        ('{"Authorization":"Digest a, b"}', f'{{"Authorization":"{MARKER}"}}'),
        ("{'x-api-key': 'abc'}", f"{{'x-api-key': '{MARKER}'}}"),
        ("{authorization: `x`, 'x-goog-api-key': \"k\"}", f"{{authorization: `x`, 'x-goog-api-key': \"{MARKER}\"}}"),
        (r'"{\"x-api-key\":\"ab\/cd\"}"', rf'"{{\"x-api-key\":\"{MARKER}\"}}"'),
        (r'"curl -H \"x-api-key: abcd1234\""', rf'"curl -H \"x-api-key: {MARKER}\""'),
        (f'{{"refresh_token":"rt_{LONG}"}}', f'{{"refresh_token":"{MARKER}"}}'),
        (f"Bearer {LONG}", f"Bearer {MARKER}"),
        ("postgres://ann:hunter2@db:5432/x", f"postgres://ann:{MARKER}@db:5432/x"),
        ("https://:p@ss@host/path", f"https://:{MARKER}@host/path"),
        ('"redis://:pw@h"', f'"redis://:{MARKER}@h"'),
        (f"-----BEGIN PRIVATE KEY-----\n{LONG}\n", f"-----BEGIN PRIVATE KEY-----{MARKER}\n"),
    ],
)
def test_values_that_only_their_place_gives_away_are_redacted(text: str, clean: str) -> None:
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The task-list-of-a-very-long-name-in-kebab-case and disk-usage-of-everything-we-have.",
        "class='sk-fading-circle-container-element'",
        "def authorization(token: str) -> bool: return token.startswith('sk-')",
        "authorization: see the documentation",
        "Authorization: Bearer $TOKEN",
        "the bearer of this letter, a bearer certificate",
        "http://localhost:8080/@scope/package and git@github.com:owner/repo.git",
        "https://example.org/a:b@c mailto:ann@example.org ssh://git@host:22/x",
        "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=",
        "-----BEGIN PRIVATE KEY----- is how a key begins, -----END PRIVATE KEY how it ends",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        '{"usage": {"input_tokens": 1234567890, "output_tokens": 12}, "key": "value"}',
        "ghp_ gho_short AIza AKIA xoxb- eyJ sk-ant-",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        f"{MARKER} and {MARKER}{MARKER}",
        "naïve – 日本語 🙂 \\n \\\\ \x00 \ud800",
    ],
)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert redact(text) == text


@given(st.text(alphabet=st.characters(exclude_characters="-_:=."), max_size=200).map(str.swapcase))
def test_text_without_the_joints_of_a_secret_is_unchanged(text: str) -> None:
    assert redact(f"{text} {text.lower()}, {text}") == f"{text} {text.lower()}, {text}"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (SECRET, MARKER),
        (json.dumps(SECRET), f'"{MARKER}"'),
        (json.dumps(SECRET, ensure_ascii=False), f'"{MARKER}"'),
        (json.dumps(json.dumps(SECRET)), rf'"\"{MARKER}\""'),
        (f"{SECRET}{SECRET} and {SECRET[:-1]}", f"{MARKER}{MARKER} and {SECRET[:-1]}"),
    ],
)
def test_a_given_secret_is_redacted_in_plain_and_json_form(text: str, clean: str) -> None:
    assert redact(f"<{text}>", [SECRET]) == f"<{clean}>"


def test_a_given_key_of_many_lines_is_redacted_line_by_line() -> None:
    assert redact(LONG, [PEM]) == MARKER
    assert redact(HEX, [PEM]) == MARKER


def test_the_longer_of_two_given_secrets_is_taken_first() -> None:
    assert redact("password-and-more", ["password", "password-and-more"]) == MARKER


def test_a_given_secret_that_is_too_short_to_be_one_is_left() -> None:
    assert redact("the cat sat on the mat", ["the cat", "mat", ""]) == "the cat sat on the mat"


HALVES = [shape[: len(shape) // 2] for shape in SHAPES.values()]
SIGNS = [
    "sk-",
    "sk-ant-",
    "Bearer ",
    "authorization",
    ": ",
    '": "',
    '\\"',
    "x-api-key",
    "://",
    ":",
    "@",
    "/",
    "eyJ",
    ".",
]
ENDS = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", MARKER, "[redac", "ted]", "\\n", "\n", " ", "'"]
WORDS = ["password", "redacted", LONG, "abc"]
PIECES = st.one_of(st.sampled_from([*SHAPES.values(), *HALVES, *SIGNS, *ENDS, *WORDS]), st.text(max_size=5))
TEXTS = st.lists(PIECES, max_size=12).map("".join)
SECRETS = st.lists(
    st.one_of(st.sampled_from(["password", "redacted", "[redacted", "]sk-ant-", LONG]), TEXTS), max_size=3
)


@given(TEXTS, SECRETS)
def test_redacting_twice_is_redacting_once(text: str, secrets: list[str]) -> None:
    once = redact(text, secrets)
    assert redact(once, secrets) == once


@given(TEXTS, SECRETS)
def test_no_given_secret_is_left_between_the_markers(text: str, secrets: list[str]) -> None:
    parts = redact(text, secrets).split(MARKER)
    assert not [secret for secret in secrets if len(secret) >= 8 and any(secret in part for part in parts)]


SLOW = ["eyJaaaaaaaa.", "sk-proj-", "-", "- ", "a", " ", "\\", "\\n", "\\/", "[", "://a:", "://:@", "AKIA", "A", "ghp_"]
SLOW_KEYS = ["-----BEGIN PRIVATE KEY-----" + body for body in ("\n\n\n", "\n" + "A" * 20 + "\n", "-A")]
SLOW_HEADERS = [
    "authorization: ",
    'authorization": "',
    "x-api-key:",
    "authorization \\",
    "github_pat_",
    "xoxb-",
    "AIza",
]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", [*SLOW, *SLOW_KEYS, *SLOW_HEADERS, *SIGNS, *ENDS])
def test_a_long_line_made_to_be_slow_is_not(unit: str) -> None:
    """Quadratic time would be minutes."""
    for start in ("", "-----BEGIN PRIVATE KEY-----https://u:eyJ"):
        text = start + unit * ((512 << 10) // len(unit)) + SHAPES["github"]
        assert SHAPES["github"] not in redact(text)


def test_a_line_of_five_megabytes_is_redacted() -> None:
    text = "".join(unit * 100 for unit in (*SLOW, *SLOW_KEYS, *SLOW_HEADERS, *SIGNS)) * 200
    assert len(text) > 5 << 20
    assert SHAPES["github"] not in redact(text + " " + SHAPES["github"])


def test_values_of_variables_named_like_secrets_are_found() -> None:
    env = {
        "ANTHROPIC_API_KEY": "value-1-of-key",
        "GITHUB_TOKEN": "value-2-of-token",
        "npm_config_authToken": "value-3-of-token",
        "DB_PASSWORD": "correcthorse",
        "AWS_SECRET_ACCESS_KEY": "/bPxRfiCYEXAMPLEKEY/K7MDENG",
        "GOOGLE_CREDENTIALS": '{"type": "x"}',
        "BASIC_AUTH": " ann:hunter2 \n",
        "OPENAI_APIKEY": "value-1-of-key",
    }
    assert secret_values(env) == (
        "value-1-of-key",
        "value-2-of-token",
        "value-3-of-token",
        "correcthorse",
        "/bPxRfiCYEXAMPLEKEY/K7MDENG",
        '{"type": "x"}',
        "ann:hunter2",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ann/key.json"),
        ("SSL_KEY", "~/.ssl/private-1.pem"),
        ("SSH_KEY", "../keys/id_ed25519"),
        ("API_KEY", "short"),
        ("PATH", "value-1-of-path"),
        ("GIT_AUTHOR_EMAIL", "ann1@example.org"),
        ("KEYBOARD", "value-1-of-board"),
        ("TOKENIZERS_PARALLELISM", "value-1-of-tok"),
        ("MAX_OUTPUT_TOKENS", "100000000"),
        ("AUTH_MODE", "certificate"),
        ("AUTH_URL", "https://login.example.org/1"),
    ],
)
def test_paths_and_ordinary_variables_are_no_secrets(name: str, value: str) -> None:
    assert secret_values({name: value}) == ()
