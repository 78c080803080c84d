"""Archives and undos cut off anywhere: the next command, whichever, leaves the old tree or the new one, and nothing between."""

import random
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agentd.runs.unfinished import note
from tests.archive.library import Library, a_spec
from tests.archive.stages import (
    SCENARIOS,
    Stage,
    changed,
    check_through,
    check_whole,
    difference,
    run_again,
    tree,
)
from tests.sandbox import kill

MOMENTS = ("before", "torn", "after")
DEADLY = -signal.SIGKILL
LOOKING: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("list", "--all"),
    ("validate",),
    ("log", "a"),
    ("history", "report"),
    ("status", "a", "--json"),
    ("trace", "a"),
    ("cost",),
)
# Commands that write, with the code they end with when what was cut off is finished and there is nothing else to do.
NEXT: dict[tuple[str, ...], int] = {
    ("stop", "a"): 0,
    ("answer", "a", "UD-1", "yes"): 1,
    ("archive", "no-such"): 1,
    ("stop", "a", "--json"): 0,
    ("undo", "no-such"): 1,
}
FEW = {"ours": 12, "all": 12}  # places in a sample; of the others all are taken, as that takes seconds
RANDOM = {"sample": 20, "all": 200}
PAIRS = {"sample": 12, "all": 80}
SIGNALS = {"sample": 6, "all": 40}
MINE = "\nA person's own words.\n"


def looks(root: Path) -> Path:
    return root / "agentd" / ".lock"


SIGNS = (looks, note)  # most of the time before these are there goes into starting up


def places(stage: Stage) -> list[str]:
    """Every place to die: three in a write, one at the boundary of a step."""
    found = []
    for line in stage.points:
        role, number = line.split()
        found += [f"{role}:{number}:{when}" for when in (MOMENTS[:1] if role == "step" else MOMENTS)]
    return found


def each(numbers: Sequence[str], try_one: Callable[[str, int, Path], None], folder: Path) -> None:
    """Every one in a library of its own; the test tells of all that went wrong."""
    wrong = []
    for number, place in enumerate(numbers):
        root = folder / str(number)
        try:
            try_one(place, number, root)
        except AssertionError as error:
            wrong.append(f"{place} in {root}: {error}")
        else:
            shutil.rmtree(root)
    assert not wrong, f"{len(wrong)} of {len(numbers)}\n" + "\n".join(wrong)


def go_on(library: Library, number: int) -> None:
    """A command that looks leaves everything as it is; one that writes finishes first what was cut off."""
    cut_off, before = note(library.root).exists(), tree(library)
    words = LOOKING[number % len(LOOKING)]
    ran = library.run(*words)
    assert (tree(library), note(library.root).exists()) == (before, cut_off), f"{' '.join(words)} wrote"
    assert ("was interrupted; finish it: agentd" in ran.err) == cut_off, f"{words}: {ran}"
    following, code = list(NEXT.items())[number % len(NEXT)]
    ran = library.run(*following)
    assert ran.code == code, f"{' '.join(following)} ended with {ran.code}:\n{ran.out}{ran.err}"


@pytest.mark.crash
@pytest.mark.requirement(80, 88)
@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_command_killed_at_any_write_leaves_the_old_tree_or_the_new_one(
    stage: Callable[[str], Stage],
    name: str,
    part: int,
    mode: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    made = stage(name)
    found = places(made)
    if mode == "sample" and name in FEW:
        found = random.Random(name).sample(found, FEW[name])

    def try_one(place: str, number: int, root: Path) -> None:
        library = made.copy(root)
        died = library.run(*made.scenario.words, env={"AGENTD_CRASH": place})
        assert died.code == DEADLY, f"it ended with {died.code} instead:\n{died.out}{died.err}"
        if number % 3 == 0:  # the next command is the same one
            run_again(library, made)
            return
        go_on(library, number)
        check_whole(library, made)
        check_through(library, made)

    record_property(f"killed {name} into the library", len(found[part::2]))
    each(found[part::2], try_one, tmp_path)


@pytest.mark.crash
@pytest.mark.requirement(80, 88)
def test_archiving_is_itself_a_command_that_finishes_what_was_cut_off(
    stage: Callable[[str], Stage], tmp_path: Path
) -> None:
    """The same change, and another one: both find the first archive finished."""
    made = stage("all")

    def try_one(place: str, number: int, root: Path) -> None:
        library = made.copy(root)
        assert library.run("archive", "a", env={"AGENTD_CRASH": place}).code == DEADLY
        words = ("archive", "ab"[number % 2])
        ran = library.run(*words)
        assert ran.code == 0, f"{words} ended with {ran.code}:\n{ran.out}{ran.err}"
        assert library.run("archive", "--all").code == 0
        found = tree(library)
        assert found == made.new, difference(found, made.new)

    each(["spec:1:before", "spec:2:torn", "spec:4:after", "move:1:after", "state:2:after"], try_one, tmp_path)


@pytest.mark.crash
@pytest.mark.requirement(80, 88)
def test_what_is_killed_twice_also_while_it_recovers_is_old_or_new(
    stage: Callable[[str], Stage], mode: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    dice = random.Random("twice")
    kills = 0

    def try_one(name: str, number: int, root: Path) -> None:
        nonlocal kills
        made = stage(name)
        library = made.copy(root)
        decided = [place for place in places(made) if not place.startswith(("pending:1", "record:1:before"))]
        first = decided[dice.randrange(len(decided))]
        assert library.run(*made.scenario.words, env={"AGENTD_CRASH": first}).code == DEADLY
        words = list(NEXT)[number % len(NEXT)]
        second = f"*:{dice.randint(1, 8)}:{dice.choice(MOMENTS)}"
        ran = library.run(*words, env={"AGENTD_CRASH": second})
        assert ran.code in (0, 1, DEADLY), f"{first}, then {second}: {ran}"
        kills += ran.code == DEADLY
        try:
            go_on(library, number + 1)
            check_whole(library, made)
            check_through(library, made)
        except AssertionError as error:
            raise AssertionError(f"{first}, then {second} in {' '.join(words)}: {error}") from error

    each([("archive", "undo", "all")[at % 3] for at in range(PAIRS[mode])], try_one, tmp_path)
    record_property("killed while recovering", kills)
    assert kills


@pytest.mark.crash
@pytest.mark.requirement(80, 88)
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_command_killed_at_a_random_time_leaves_the_old_tree_or_the_new_one(
    stage: Callable[[str], Stage], name: str, mode: str, tmp_path: Path
) -> None:
    made = stage(name)
    ends = cut_off(made, signal.SIGKILL, RANDOM[mode] // len(SCENARIOS), tmp_path)
    assert mode == "sample" or "under way" in ends, f"no kill came while it was at work: {ends}"


@pytest.mark.crash
@pytest.mark.requirement(80)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda one: one.name)
@pytest.mark.parametrize("name", ["archive", "undo"])
def test_a_command_that_is_asked_to_end_leaves_the_old_tree_or_the_new_one(
    stage: Callable[[str], Stage], name: str, number: signal.Signals, mode: str, tmp_path: Path
) -> None:
    cut_off(stage(name), number, SIGNALS[mode], tmp_path)


def cut_off(made: Stage, number: signal.Signals, count: int, folder: Path) -> list[str]:
    """Send the signal some time after the command began to look, or to write; where it was then."""
    dice = random.Random(f"{made.scenario.words} {number}")
    spans = {sign: at_work(made, folder / sign.__name__, sign) for sign in SIGNS}
    ends = []

    def try_one(share: str, at: int, root: Path) -> None:
        library, sign = made.copy(root), SIGNS[at % 2]
        process = library.begin(*made.scenario.words)
        wait_for(library, sign, process.poll)
        time.sleep(float(share) * spans[sign])
        code = kill(process, number)
        pending = note(library.root).exists()
        ends.append("under way" if pending else "over" if code == 0 else "before")
        assert code in (0, -number, 128 + number), code
        go_on(library, at)
        check_whole(library, made)
        check_through(library, made)

    each([str((at + dice.random()) / count * 1.1) for at in range(count)], try_one, folder)
    return ends


def at_work(made: Stage, root: Path, sign: Callable[[Path], Path]) -> float:
    """How long the command takes from then on."""
    library = made.copy(root)
    process = library.begin(*made.scenario.words)
    wait_for(library, sign, process.poll)
    began = time.monotonic()
    process.communicate(timeout=60)
    return time.monotonic() - began


def wait_for(library: Library, sign: Callable[[Path], Path], ended: Callable[[], int | None]) -> None:
    while ended() is None and not sign(library.root).exists():
        time.sleep(0.001)


@pytest.mark.crash
@pytest.mark.requirement(80)
@pytest.mark.parametrize("name", ["archive", "undo"])
def test_what_a_person_wrote_after_the_kill_stays_and_all_the_rest_is_taken_back(
    stage: Callable[[str], Stage], name: str, tmp_path: Path
) -> None:
    made = stage(name)
    written = [line for line in made.points if line.startswith("spec")]
    places = [f"spec:{n}:{when}" for n in range(1, len(written) + 1) for when in MOMENTS]
    spots = [f"{place} {('report', 'sum')[at % 2]}" for at, place in enumerate(places)]

    def try_one(spot: str, number: int, root: Path) -> None:
        place, _, spec = spot.partition(" ")
        library = made.copy(root)
        assert library.run(*made.scenario.words, env={"AGENTD_CRASH": place}).code == DEADLY
        library.put(spec, library.get(spec) + MINE)
        mine = library.get(spec)
        ran = library.run("stop", "a")
        assert ran.code == 0, ran.err
        assert "was interrupted and has been rolled back" in ran.out + ran.err, ran
        assert f"agentd/specs/{spec}.md was changed meanwhile" in ran.out + ran.err, ran
        assert library.get(spec) == mine
        check_whole(library, made, [made.old | {f"agentd/specs/{spec}.md": tree(library)[f"agentd/specs/{spec}.md"]}])

    each(spots, try_one, tmp_path)


@pytest.mark.crash
@pytest.mark.requirement(80)
@pytest.mark.parametrize("name", ["archive", "undo"])
@pytest.mark.parametrize("place", ["move:1:torn", "move:1:after", "state:{last}:torn", "pending:2:before"])
def test_what_a_person_wrote_once_the_change_had_moved_stays_and_the_rest_is_finished(
    stage: Callable[[str], Stage], name: str, place: str, tmp_path: Path
) -> None:
    made = stage(name)
    library = made.copy(tmp_path / "cut")
    last = sum(line.startswith("state") for line in made.points)
    died = library.run(*made.scenario.words, env={"AGENTD_CRASH": place.format(last=last)})
    assert died.code == DEADLY
    library.put("report", library.get("report") + MINE)
    mine = library.get("report")
    assert library.run("stop", "a").code == 0
    assert library.get("report") == mine
    report = "agentd/specs/report.md"
    check_whole(library, made, [made.new | {report: tree(library)[report]}])


@pytest.mark.crash
def test_taking_back_can_be_killed_as_well(stage: Callable[[str], Stage], mode: str, tmp_path: Path) -> None:
    """After a hand edit the archive is taken back; that is killed at each of its writes."""
    made = stage("archive")
    kills = 0

    def try_one(place: str, number: int, root: Path) -> None:
        nonlocal kills
        library = made.copy(root)
        assert library.run("archive", "a", env={"AGENTD_CRASH": "spec:3:after"}).code == DEADLY
        library.put("sum", library.get("sum") + MINE)
        mine = library.get("sum")
        ran = library.run("stop", "a", env={"AGENTD_CRASH": place})
        assert ran.code in (0, DEADLY), ran
        kills += ran.code == DEADLY
        assert library.run("stop", "a").code == 0
        assert library.get("sum") == mine
        check_whole(library, made, [made.old | {"agentd/specs/sum.md": tree(library)["agentd/specs/sum.md"]}])

    places = [f"*:{n}:{when}" for n in range(1, 11) for when in MOMENTS]
    each(places if mode == "all" else places[::4], try_one, tmp_path)
    assert kills > 3


@pytest.mark.crash
def test_after_a_hand_edit_the_same_archive_keeps_the_persons_words_and_brings_its_own(
    stage: Callable[[str], Stage], tmp_path: Path
) -> None:
    made = stage("archive")
    library = made.copy(tmp_path / "cut")
    assert library.run("archive", "a", env={"AGENTD_CRASH": "spec:3:after"}).code == DEADLY
    library.put("report", changed(library.get("report"), "It prints a report.", "It prints what a person says."))
    assert library.run("archive", "a").code == 0
    assert "It prints what a person says." in library.get("report")
    assert "It counts all words." in library.get("report")
    assert a_spec("deep-er-new").splitlines()[-1] in library.get("deep/er/new")


@pytest.mark.crash
@pytest.mark.parametrize("place", ["record:1:after", "spec:2:after", "move:1:after", "state:2:before"])
@pytest.mark.parametrize("then", ["archive", "undo"])
def test_a_note_that_a_person_took_away_after_the_kill_is_not_needed(
    stage: Callable[[str], Stage], place: str, then: str, tmp_path: Path
) -> None:
    """The record of the archive is still there: archived again and undone, the library is as before."""
    made = stage("archive")
    library = made.copy(tmp_path / "cut")
    assert library.run("archive", "a", env={"AGENTD_CRASH": place}).code == DEADLY
    note(library.root).write_text("{")
    assert "rm " in library.run("stop", "a").err
    note(library.root).unlink()
    if then == "archive" or library.folder("a").parent.name == "changes":
        assert library.run("archive", "a").code == 0
        check_whole(library, made, [made.new])
    assert library.run("undo", "a").code == 0
    check_whole(library, made, [made.old])


@pytest.mark.crash
@pytest.mark.parametrize("place", ["spec:1:after", "spec:3:torn", "move:1:after"])
@pytest.mark.parametrize("name", ["archive", "undo"])
def test_without_its_note_a_command_that_was_cut_off_can_be_undone(
    stage: Callable[[str], Stage], name: str, place: str, tmp_path: Path
) -> None:
    made = stage(name)
    library = made.copy(tmp_path / "cut")
    assert library.run(*made.scenario.words, env={"AGENTD_CRASH": place}).code == DEADLY
    note(library.root).unlink()
    assert library.run("undo", "a").code == 0
    check_whole(library, made, [made.old if name == "archive" else made.new])


@pytest.mark.crash
def test_an_empty_folder_that_came_after_the_kill_is_not_taken_for_the_change(
    stage: Callable[[str], Stage], tmp_path: Path
) -> None:
    made = stage("archive")
    library = made.copy(tmp_path / "cut")
    assert library.run("archive", "a", env={"AGENTD_CRASH": "move:1:after"}).code == DEADLY
    empty = library.root / "agentd" / "changes" / "a"
    empty.mkdir()
    assert library.run("stop", "a").code == 0
    empty.rmdir()
    check_whole(library, made, [made.new])


@pytest.mark.crash
@pytest.mark.parametrize("place", ["spec:2:after", "move:1:after"])
@pytest.mark.parametrize("name", ["archive", "undo"])
def test_a_state_file_that_is_gone_after_the_kill_is_in_the_record(
    stage: Callable[[str], Stage], name: str, place: str, tmp_path: Path
) -> None:
    made = stage(name)
    library = made.copy(tmp_path / "cut")
    assert library.run(*made.scenario.words, env={"AGENTD_CRASH": place}).code == DEADLY
    (library.folder("a") / "STATE.yaml").unlink()
    assert library.run("stop", "a").code == 0
    check_whole(library, made, [made.new])


@pytest.mark.crash
def test_a_change_that_is_gone_after_the_kill_is_told(stage: Callable[[str], Stage], tmp_path: Path) -> None:
    library = stage("archive").copy(tmp_path / "cut")
    assert library.run("archive", "a", env={"AGENTD_CRASH": "spec:2:after"}).code == DEADLY
    shutil.rmtree(library.folder("a"))
    ran = library.run("stop", "a")
    assert (ran.code, "the library may have only some of its specs" in ran.out) == (1, True)
    assert "There is no run 'a'" in ran.err


@pytest.mark.crash
def test_what_a_person_wrote_into_the_state_after_the_kill_is_kept(
    stage: Callable[[str], Stage], tmp_path: Path
) -> None:
    library = stage("archive").copy(tmp_path / "cut")
    assert library.run("archive", "a", env={"AGENTD_CRASH": "spec:2:after"}).code == DEADLY
    with (library.folder("a") / "STATE.yaml").open("a") as file:
        file.write("# a note of mine\n")
    library.put("report", library.get("report") + MINE)
    ran = library.run("stop", "a")
    assert (ran.code, "STATE.yaml.changed-1" in ran.out) == (0, True)
    assert "# a note of mine" in (library.folder("a") / "STATE.yaml.changed-1").read_text()


@pytest.mark.crash
def test_what_came_into_the_way_of_the_folder_after_the_kill_is_named(
    stage: Callable[[str], Stage], tmp_path: Path
) -> None:
    made = stage("archive")
    library = made.copy(tmp_path / "cut")
    assert library.run("archive", "a", env={"AGENTD_CRASH": "spec:2:after"}).code == DEADLY
    target = library.root / "agentd/archive/a"
    target.mkdir(parents=True)
    ran = library.run("stop", "a")
    assert (ran.code, f"mv {target} {target}-old" in ran.err) == (1, True)
    target.rename(f"{target}-old")
    assert library.run("stop", "a").code == 0
    shutil.rmtree(f"{target}-old")
    check_whole(library, made, [made.new])


@pytest.mark.crash
@pytest.mark.parametrize("place", ["spec:2:after", "move:1:before", "move:1:after"])
@pytest.mark.parametrize("phase", ["implementing", "rejected"])
def test_a_phase_that_a_person_set_after_the_kill_takes_the_archive_back_and_it_is_said(
    stage: Callable[[str], Stage], place: str, phase: str, tmp_path: Path
) -> None:
    made = stage("archive")
    library = made.copy(tmp_path / "cut")
    assert library.run("archive", "a", env={"AGENTD_CRASH": place}).code == DEADLY
    library.edit_state("phase: complete", f"phase: {phase}", "a")
    ran = library.run("stop", "a")
    assert ran.code == 0, ran
    assert f"has been rolled back: its phase was set to {phase} meanwhile" in ran.out + ran.err
    check_whole(library, made, [made.old])
