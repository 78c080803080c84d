"""A family of the tests' own: a postcard is written, stamped, signed by each friend, and sent if a person agrees."""

from pathlib import Path

from agentd.runs.layout import Layout
from agentd.state.codecs import Codec

LAYOUT = Layout(
    name="toy",
    module=__name__,
    folder=Path(__file__).parent,
    homes=("postcards",),
    codec=Codec("card.json", "card", "stage", "format", 1, "made", "changed"),
    workflows=("toy", "toy-friend"),
    settings={"toy": {"max_parallel": 2, "signatures": 1}},
    guarded_keys=("stamps",),
    checks={"somebody_signs": "family.somebody_signs"},
    actions={"stamp": ("family.stamp", ("done",))},
    items={"friends": "family.friends"},
    questions={"send": "family.send"},
    artifacts={"stamp.txt": "family.problem_with"},
)
