"""The text of a proposal that an approval is bound to, and its checksum is taken of."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agentd.model.change import AffectedSpec

_VOLATILE = ("checksum", "updated_at", "status", "iteration", "summary", "impact", "affected_specs")
_as_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=str).encode


def approved_text(
    data: Mapping[str, Any],
    impact: tuple[str | None, int | None, int | None],
    specs: Iterable[AffectedSpec],
    lines: Iterable[str],
) -> str:
    """All but white space and the keys of the front matter that change along the way; reviews are not among the lines."""
    head = {key: value for key, value in data.items() if key not in _VOLATILE}
    named = [[spec.id, *spec.depends, *(["(removed)"] if spec.removed else [])] for spec in specs]
    return "\n".join([_as_json({**head, "impact": impact, "affected_specs": named}), *filter(None, lines)])
