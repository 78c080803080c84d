"""What compaction saves: the bytes of the prompts of each stage of the demonstration, as a ratio to those without it.

With compaction a prompt has the files that its step needs and summaries of the stages before; without, all files so far.
"""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from agentd.demo import staged
from agentd.families.staged.schedule import STAGES, entry_of

LIMIT = 0.9
CHILDREN = {"explore": "EXPLORE", "plan": "PLAN", "implement": "IMPLEMENT", "fix": "IMPLEMENT"}


def main() -> int:
    """Print the figures; exit 1 if compaction saves too little."""
    whole, compact = measure(False), measure(True)
    print(f"{'stage':<12}{'without':>10}{'with':>10}{'ratio':>8}")
    for stage in STAGES:
        print(f"{stage:<12}{whole[stage]:>10,}{compact[stage]:>10,}{compact[stage] / whole[stage]:>8.2f}")
    ratio = compact.total() / whole.total()
    print(f"{'all':<12}{whole.total():>10,}{compact.total():>10,}{ratio:>8.2f} (at most {LIMIT})")
    return int(ratio > LIMIT)


def measure(on: bool) -> Counter[str]:
    """The bytes of all prompts, by stage."""
    with tempfile.TemporaryDirectory() as room:
        setting = f"compact_between_stages = {str(on).lower()}\n"
        shown = staged.demonstrate(Path(room, "demo"), lambda _: None, setting)
        assert not shown.failed, shown.failed
        state = json.loads((shown.folder / ".agents" / staged.NAME / "state.json").read_text(encoding="utf-8"))
    found: Counter[str] = Counter()
    for call in state["llm_calls"]:
        step = str(call["call"]).rpartition("/")[2].rpartition("-")[0]
        entry = entry_of(step)
        found[CHILDREN.get(step) or (entry.stage if entry else step)] += int(call["bytes_in"])
    return found


if __name__ == "__main__":
    sys.exit(main())
