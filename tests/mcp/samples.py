"""Arguments that every tool takes."""

from typing import Any

from agentd.library import spec
from agentd.model.change import Requirement, Scenario, Spec

CHANGE = "add-oauth"
REVIEW = """## Summary
The proposal says what and why, and the order is clear.

## Issues
None worth a round.

## Verdict
APPROVED

## Next Steps
Implement it."""

CLARIFICATIONS: dict[str, Any] = {
    "change_id": CHANGE,
    "questions": [
        {
            "topic": "Providers",
            "question": "Which providers?",
            "answer": "GitHub and Google",
            "rationale": "Most people have one of them.",
        },
        {"topic": "セッション", "question": "How long?", "answer": "30 days", "rationale": "As today."},
    ],
}
QUESTIONS: dict[str, Any] = {
    "change_id": CHANGE,
    "questions": [
        {
            "topic": "Providers",
            "question": "Which providers can people sign in with?",
            "options": ["GitHub and Google: most people have one", "GitHub alone: less to maintain"],
            "rationale": "Each one is a button and a setting.",
        },
        {"topic": "セッション", "question": "How long does a session last?", "options": ["30 days", "1 day", "1 hour"]},
        {"topic": "Accounts", "question": "What about people with a password?", "options": ["Keep both", "Move all"]},
    ],
}
PROPOSAL: dict[str, Any] = {
    "change_id": CHANGE,
    "summary": "People sign in with GitHub or Google.",
    "why": "Passwords are lost, and nobody wants one more.",
    "what_changes": ["A sign-in page with two buttons", "Sessions keep the provider's id"],
    "impact": {
        "scope": "minor",
        "affected_files": 3,
        "new_files": 1,
        "affected_specs": ["auth-flow", {"id": "sessions", "depends": ["auth-flow"]}],
        "affected_code": ["src/auth.py"],
        "breaking_changes": None,
    },
}
SPEC: dict[str, Any] = {
    "change_id": CHANGE,
    "spec_id": "auth-flow",
    "title": "Signing in",
    "overview": "How a person signs in with a provider.",
    "requirements": [
        {
            "id": "R1",
            "title": "Redirect",
            "description": "The app SHALL send the person to the provider.",
            "priority": "high",
        },
        {"id": "R2", "title": "Return", "description": "The app SHALL take the person back."},
    ],
    "scenarios": [
        {"name": "first time", "given": "no account", "when": "the person clicks GitHub", "then": "GitHub asks"},
        {"name": "came back", "when": "the provider answers", "then": "a session begins"},
    ],
    "flow_diagram": "graph TD\n  A --> B",
    "data_model": {"type": "object", "properties": {"id": {"type": "string"}}},
}
SESSIONS: dict[str, Any] = {
    "change_id": CHANGE,
    "spec_id": "sessions",
    "title": "Sessions",
    "overview": "What is kept while somebody is signed in.",
    "requirements": [{"id": "R1", "title": "Id", "description": "A session SHALL keep the provider's id."}],
    "scenarios": [{"name": "kept", "when": "a session begins", "then": "the id is in it"}],
}
TASKS: dict[str, Any] = {
    "change_id": CHANGE,
    "tasks": [
        {
            "layer": "data",
            "number": 1,
            "title": "Keep the id",
            "file": {"path": "src/session.py", "action": "MODIFY"},
            "spec_ref": "sessions:R1",
            "description": "A new column.",
            "depends": [],
        },
        {
            "layer": "logic",
            "number": 1,
            "title": "Redirect",
            "file": {"path": "src/auth.py", "action": "CREATE"},
            "spec_ref": "auth-flow:R1",
            "description": "Build the URL.",
            "depends": ["data.1"],
        },
        {
            "layer": "integration",
            "number": 1,
            "title": "Return",
            "file": {"path": "src/routes.py", "action": "MODIFY"},
            "spec_ref": "auth-flow:R2",
            "description": "Take the answer.",
            "depends": ["logic.1"],
        },
    ],
}
APPEND: dict[str, Any] = {
    "change_id": CHANGE,
    "status": "approved",
    "iteration": 1,
    "reviewer": "codex",
    "content": REVIEW,
}
CREATE_REVIEW: dict[str, Any] = {
    "change_id": CHANGE,
    "iteration": 1,
    "verdict": "NEEDS_CHANGES",
    "issues": [
        {
            "severity": "HIGH",
            "title": "State is not checked",
            "description": "Anybody can forge the answer.",
            "file_path": "src/auth.py",
            "line_number": 12,
            "recommendation": "Compare it.",
        },
        {"severity": "LOW", "title": "A typo", "description": "It says 'singin'."},
    ],
    "test_results": {"status": "FAIL", "total": 3, "passed": 2, "failed": 1, "skipped": 0},
    "security_status": "WARNINGS",
    "next_steps": "Check the state.",
}
KNOWLEDGE: dict[str, Any] = {
    "path": "01-auth/oauth.md",
    "title": "OAuth",
    "source": "the provider's documentation",
    "content": "# OAuth\n\nThe state must be compared.",
}
MAIN_SPEC: dict[str, Any] = {
    "path": "auth-flow.md",
    "content": spec.render(
        Spec(
            "auth-flow",
            "Signing in",
            "How people sign in.",
            (Requirement("R1", "Redirect", "It SHALL."),),
            (Scenario("first", "asked", "done"),),
        )
    ),
}
CONTENT: dict[str, Any] = {
    "verdict": "APPROVED",
    "issues": [],
    "test_results": {"status": "PASS", "total": 3, "passed": 3},
}
