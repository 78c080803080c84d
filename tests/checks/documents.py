"""Small valid documents to check: two specs and the tasks that cover them."""

from agentd.model.change import AffectedSpec, Impact, Proposal, Requirement, Scenario, Spec, Task, Tasks


def a_spec(name: str = "auth", *ids: str) -> Spec:
    requirements = tuple(
        Requirement(word, f"Title {word}", f"It SHALL do {word}.", line=10 * number)
        for number, word in enumerate(ids or ("R1", "R2"), 1)
    )
    return Spec(name, "Title", "What it is about", requirements, (Scenario("One", "asked", "done"),))


def some_tasks(*refs: str) -> Tasks:
    return Tasks(
        "add-oauth",
        tuple(
            Task("logic", number, "Do it", "src/a.py", "MODIFY", ref, line=5 * number)
            for number, ref in enumerate(refs, 1)
        ),
    )


def a_proposal(*specs: str | AffectedSpec) -> Proposal:
    affected = tuple(spec if isinstance(spec, AffectedSpec) else AffectedSpec(spec) for spec in specs)
    return Proposal("add-oauth", "A summary", "A reason", ("One thing",), Impact("minor", 1, affected_specs=affected))
