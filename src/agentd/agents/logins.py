"""Whether an agent is logged in, as far as that can be told without calling it. Files with credentials are not opened."""

import os
import sys
from collections.abc import Mapping
from typing import Any

from agentd.agents.adapter import Adapter


def find_login(adapter: Adapter, section: Mapping[str, Any], env: Mapping[str, str]) -> str | None:
    """The variable or the file that logs an agent in; empty if there is none, and None if it cannot be told."""
    traces = adapter.traces
    if traces is None:
        return None
    if traces.setting:
        name = str(section.get(traces.setting, ""))
        return (name if env.get(name) else "") if name else None
    home = env.get("HOME") or os.path.expanduser("~")
    folders = [folder.places(home, env)[0] for folder in adapter.folders[:1]]
    files = [os.path.join(folder, name) for folder in folders for name in traces.files]
    found = [name for name in traces.variables if env.get(name)] or [path for path in files if os.path.exists(path)]
    return found[0] if found else None if traces.keychain and sys.platform == "darwin" else ""
