"""A question of several lines is shown once in full; where it is only named, it has one line. What is left to do is named."""

from agentd.cli.run_rows import next_command
from agentd.runs.report import Report
from tests.team.sessions import NAME, Session


def test_a_question_of_several_lines_has_one_line_where_it_is_only_named(session: Session) -> None:
    assert session.start().code == 4
    (asked,) = session.pending()
    first, *more = asked["question"].splitlines()
    assert more
    listed = session.sandbox.run("status").out.splitlines()
    assert len(listed) == 2, "a row, and the next command"
    assert listed[0].endswith(first)
    shown = session.sandbox.run("status", f"team/{NAME}").out.splitlines()
    at = next(number for number, line in enumerate(shown) if asked["decision_id"] in line)
    assert shown[at].endswith("(about spec.md, acceptance.json, architecture.md)")
    assert [line.strip() for line in shown[at + 1 : at + 1 + len(more)]] == [line.strip() for line in more]
    log = session.sandbox.run("log", NAME).out.splitlines()
    assert f"question={first} …" in next(line for line in log if " ask " in line)
    wrong = session.answer(asked["decision_id"], "")
    assert len(wrong.err.splitlines()) == 2, "the error and its fix"
    said = session.answer(asked["decision_id"], "approved")
    assert said.out.splitlines()[:2] == [f"Recorded: {first}", "  → approved"]


def test_the_overview_names_the_delivery_of_a_run_that_is_finished() -> None:
    done = Report("w", "r", "DONE", "done", "finished", "done", "agentd deliver w/r", "f", "2026-01-01T00:00:00Z")
    assert next_command([done]) == "agentd deliver w/r"
