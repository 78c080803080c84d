"""The configuration: defaults, files over one another, agents and their models, and bad values that name themselves."""

import re
from pathlib import Path

import pytest

from agentd.agents.table import ADAPTERS
from agentd.app import LAYOUTS
from agentd.errors import BadConfig
from agentd.model.models import AgentModel
from agentd.runs.config import Config, read_config
from agentd.runs.example_config import example_config

MINE = '[[gemini.models]]\nid = "mine"\nmodel = "gemini-x"\ncomplexity = "high"\n'


def config(folder: Path, project: str = "", personal: str = "") -> Config:
    for path, text in ((folder / "agentd", project), (folder / "home" / "agentd", personal)):
        path.mkdir(parents=True, exist_ok=True)
        (path / "config.toml").write_text(text, encoding="utf-8")
    return read_config(folder, LAYOUTS, {"XDG_CONFIG_HOME": str(folder / "home"), "HOME": str(folder / "nobody")})


def test_without_a_file_every_setting_has_its_default(tmp_path: Path) -> None:
    found = read_config(tmp_path, LAYOUTS, {})
    assert found.warnings == ()
    assert found.human_in_loop
    assert found.sections["workflow"] == {
        "format_iterations": 2,
        "planning_iterations": 2,
        "implementation_iterations": 2,
        "archive_iterations": 1,
        "script_retries": 3,
        "retry_delay_secs": 5,
        "sequential_implementation": True,
        "human_in_loop": True,
        "self_review_iterations": 3,
        "generation": "sequential",
    }
    assert found.sections["budget"] == {
        "per_call": 2.0,
        "per_change": 20.0,
        "per_day": 50.0,
        "calls_per_change": 100,
    }
    assert found.get("git", "commit") == "ask"
    assert found.models("scripted") == ()


def test_without_models_in_a_file_none_is_chosen_for_an_agent(tmp_path: Path) -> None:
    found = read_config(tmp_path, LAYOUTS, {})
    for agent in ADAPTERS:
        assert (found.models(agent), found.get(agent, "default")) == ((), "")
        assert found.model_for(agent, "critical") is None


def test_a_default_without_models_is_warned_about(tmp_path: Path) -> None:
    (warning,) = config(tmp_path, '[gemini]\ndefault = "pro"\n').warnings
    assert "[gemini] default = 'pro' chooses among [[gemini.models]], and there are none" in warning
    assert config(tmp_path, '[gemini]\ndefault = "mine"\n', MINE).warnings == ()


@pytest.mark.requirement(32, 289)
def test_the_models_that_init_offers_are_taken_when_they_are_no_comments_any_more(tmp_path: Path) -> None:
    written = example_config()
    assert read_config(tmp_path, LAYOUTS, {}).sections == config(tmp_path, written).sections
    found = config(tmp_path, re.sub(r"(?m)^# (?=\[|\w+ = )", "", written))
    assert found.warnings == ()
    tables = {
        agent: [
            (model.id, model.model, model.complexity, model.effort, model.cost_per_1m_input, model.cost_per_1m_output)
            for model in found.models(agent)
        ]
        for agent in ("gemini", "codex", "claude")
    }
    assert tables == {
        "gemini": [
            ("flash", "gemini-3-flash-preview", "medium", "", 0.10, 0.40),
            ("pro", "gemini-3-pro-preview", "critical", "", 1.25, 10),
        ],
        "codex": [
            ("fast", "gpt-5.2-codex", "low", "low", 2, 8),
            ("balanced", "gpt-5.2-codex", "medium", "medium", 2, 8),
            ("deep", "gpt-5.2-codex", "high", "high", 2, 8),
            ("max", "gpt-5.2-codex", "critical", "extra high", 2, 8),
        ],
        "claude": [
            ("fast", "haiku", "low", "", 0.80, 4),
            ("balanced", "sonnet", "medium", "", 3, 15),
            ("deep", "opus", "critical", "", 15, 75),
        ],
    }
    for agent, default in (("gemini", "flash"), ("codex", "balanced"), ("claude", "balanced")):
        assert (found.get(agent, "command"), found.get(agent, "default")) == (agent, default)
        medium = found.model_for(agent, "medium")
        assert medium is not None
        assert medium.id == default


@pytest.mark.requirement(139)
def test_models_of_ones_own_take_the_place_of_the_built_in_ones(tmp_path: Path) -> None:
    text = (
        '[codex]\ncommand = "/opt/codex"\n'
        '[[codex.models]]\nid = "mine"\nmodel = "gpt-x"\ncomplexity = "high"\nreasoning = "extra high"\n'
        "cost_per_1m_input = 1\ncost_per_1m_output = 2.5\ncost_per_1m_cached = 0.1\n"
    )
    found = config(tmp_path, text)
    assert found.warnings == ()
    assert found.get("codex", "command") == "/opt/codex"
    assert found.models("codex") == (AgentModel("mine", "gpt-x", "high", "extra high", 1.0, 2.5, 0.1),)
    assert found.model_for("codex", "critical") == found.models("codex")[0]


def test_of_equal_models_the_default_one_is_taken(tmp_path: Path) -> None:
    other = MINE.replace("mine", "other")
    assert config(tmp_path, MINE + other).model_for("gemini", "low") == AgentModel("mine", "gemini-x", "high")
    chosen = config(tmp_path, f'[gemini]\ndefault = "other"\n{MINE}{other}').model_for("gemini", "low")
    assert chosen == AgentModel("other", "gemini-x", "high")


def test_an_agent_of_another_package_has_a_section_if_it_plays_a_role(tmp_path: Path) -> None:
    text = '[roles]\nplanner = "aider"\n[aider]\ncommand = "aider"\n' + MINE.replace("gemini.", "aider.")
    found = config(tmp_path, text)
    assert found.warnings == ()
    assert found.agent_of("planner") == "aider"
    assert found.get("aider", "command") == "aider"
    assert [model.id for model in found.models("aider")] == ["mine"]
    (warning,) = config(tmp_path, text.split("\n", 2)[2].split("[[")[0]).warnings
    assert "unknown section [aider]" in warning


def test_an_agent_may_be_named_in_one_file_and_set_up_in_the_other(tmp_path: Path) -> None:
    found = config(tmp_path, '[roles]\nplanner = "aider"\n', '[aider]\ncommand = "/opt/aider"\n')
    assert found.warnings == ()
    assert found.get("aider", "command") == "/opt/aider"


def test_the_projects_file_stands_over_the_persons(tmp_path: Path) -> None:
    found = config(tmp_path, "[budget]\nper_day = 7\n", f"[budget]\nper_day = 9\nper_call = 1\n{MINE}")
    assert (found.get("budget", "per_day"), found.get("budget", "per_call")) == (7.0, 1.0)
    assert [model.id for model in found.models("gemini")] == ["mine"]
    assert config(tmp_path).models("gemini") == ()


def test_a_setup_is_a_command_or_a_list_and_a_nearer_file_may_have_the_other(tmp_path: Path) -> None:
    assert config(tmp_path).get("workspace", "setup") == ""
    found = config(tmp_path, '[workspace]\nsetup = "npm ci"\ncleanup = []\n', '[workspace]\nsetup = ["a", "b"]\n')
    assert (found.get("workspace", "setup"), found.get("workspace", "cleanup")) == ("npm ci", ())
    found = config(tmp_path, '[workspace]\nsetup = ["a", "b"]\n', '[workspace]\nsetup = "npm ci"\n')
    assert found.get("workspace", "setup") == ("a", "b")


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ("[workflow]\ngeneration = 'both'\n", "workflow.generation = 'both'", "one of sequential, one-shot"),
        ("[workflow]\nhuman_in_loop = 1\n", "workflow.human_in_loop = 1", "true or false"),
        ("[workflow]\nscript_retries = true\n", "workflow.script_retries = True", "a whole number from 0"),
        ("[workflow]\nretry_delay_secs = 0.5\n", "workflow.retry_delay_secs = 0.5", "a whole number from 0"),
        ("[budget]\nper_call = -0.5\n", "budget.per_call = -0.5", "a number from 0"),
        ("[budget]\nper_call = -1\n", "budget.per_call = -1", "a number from 0"),
        ("[budget]\nper_day = inf\n", "budget.per_day = inf", "a number from 0"),
        ("[budget]\nper_day = nan\n", "budget.per_day = nan", "a number from 0"),
        ("[budget]\nper_day = '5'\n", "budget.per_day = '5'", "a number from 0"),
        ("[budget]\nper_day = true\n", "budget.per_day = True", "a number from 0"),
        ("[budget]\ncalls_per_change = 2.5\n", "budget.calls_per_change = 2.5", "a whole number from 0"),
        ("[git]\ncommit = 'yes'\n", "git.commit = 'yes'", "one of ask, auto, never"),
        ("[gemini]\nmodels = 3\n", "gemini.models = 3", "a list of tables [[gemini.models]]"),
        ("[gemini]\nmodels = ['flash']\n", "gemini.models = ['flash']", "a list of tables [[gemini.models]]"),
        ("[gemini]\ncommand = 3\n", "gemini.command = 3", "text"),
        ("[gemini]\ndefault = 'nano'\n" + MINE, "gemini.default = 'nano'", "one of mine"),
        (MINE.replace("high", "huge"), "gemini.models[0].complexity = 'huge'", "one of low, medium, high, critical"),
        (MINE.replace('complexity = "high"', ""), "gemini.models[0].complexity = ''", "one of low, medium, high"),
        (MINE.replace('"mine"', '""'), "gemini.models[0].id = ''", "text that is not empty"),
        (MINE.replace('model = "gemini-x"', ""), "gemini.models[0].model = ''", "text that is not empty"),
        (MINE + MINE, "gemini.models[1].id = 'mine'", "another one than those before"),
        (MINE + "cost_per_1m_input = -1\n", "gemini.models[0].cost_per_1m_input = -1", "a number from 0"),
        (MINE + "cost_per_1m_cached = nan\n", "gemini.models[0].cost_per_1m_cached = nan", "a number from 0"),
        (MINE + "cost_per_1m_output = '1'\n", "gemini.models[0].cost_per_1m_output = '1'", "a number from 0"),
        (
            MINE.replace("gemini.", "codex.") + "reasoning = 'most'\n",
            "codex.models[0].reasoning = 'most'",
            "one of low, medium, high, extra high",
        ),
        ("[validation]\nwhen_pattern = '('\n", "validation.when_pattern = '('", "a regular expression"),
        ("[workspace]\nsetup = 1", "workspace.setup", "a command or a list of commands"),
        ("[workspace]\ncleanup = ['a', 1]", "workspace.cleanup", "a command or a list of commands"),
        ("[workspace]\nsetup = 'a\\u0000'".replace("'", '"'), "workspace.setup", "a command or a list of commands"),
    ],
)
def test_a_bad_value_names_its_file_its_key_itself_and_what_is_allowed(
    tmp_path: Path, text: str, key: str, allowed: str
) -> None:
    with pytest.raises(BadConfig) as told:
        config(tmp_path, text)
    start = f"{tmp_path / 'agentd' / 'config.toml'}: {key}"
    assert told.value.message.startswith(start)
    assert f"is not allowed: it must be {allowed}" in told.value.message
    assert told.value.fix == f"edit {tmp_path / 'agentd' / 'config.toml'}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[budgets]\nper_day = 1\n", "unknown section [budgets] (did you mean budget?)"),
        ("[budget]\nper_dai = 1\n", "unknown key budget.per_dai (did you mean per_day?)"),
        (MINE + "complexty = 'low'\n", "unknown key gemini.models[0].complexty (did you mean complexity?)"),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_nearest_one(tmp_path: Path, text: str, said: str) -> None:
    (warning,) = config(tmp_path, text).warnings
    assert warning == f"{tmp_path / 'agentd' / 'config.toml'}: {said}"


def test_an_empty_list_of_models_is_a_choice(tmp_path: Path) -> None:
    assert config(tmp_path, "[claude]\nmodels = []\n").model_for("claude", "low") is None


@pytest.mark.parametrize(("iterations", "repeats"), [(0, 0), (1, 0), (3, 2)])
def test_limits_are_whole_numbers_with_the_repeats_of_a_self_review(
    tmp_path: Path, iterations: int, repeats: int
) -> None:
    text = f"[workflow]\nself_review_iterations = {iterations}\n[limits]\nmy_limit = 4\n"
    found = config(tmp_path, text).limits()
    assert {type(value) for value in found.values()} == {int}
    assert (found["self_review_repeats"], found["my_limit"], found["planning_iterations"]) == (repeats, 4, 2)


def test_settings_can_be_put_in_place_of_the_files(tmp_path: Path) -> None:
    before = config(tmp_path, "[rolls]\n[workflow]\nplanning_iterations = 5\n")
    after = before.with_settings("workflow", human_in_loop=False)
    assert (before.human_in_loop, after.human_in_loop) == (True, False)
    assert after.get("workflow", "planning_iterations") == 5
    assert after.warnings == before.warnings != ()


def test_a_key_of_more_parts_than_anybody_writes_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="nested too deeply"):
        config(tmp_path, "a." * 100_000 + "a = 1\n")
    floats = ", ".join(["0.5"] * 500)
    assert config(tmp_path, f"[mine]\nnumbers = [{floats}]\nwords = '{'so it is. ' * 500}'\n").warnings
