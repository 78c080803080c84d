"""Which sub-folders the root's commands cover: workspaces, modules, and folders that a declared command names."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from agentd.evidence.detection import compiled
from agentd.evidence.detection.folder import Folder, strings, table
from agentd.evidence.detection.node import PLACEHOLDER
from agentd.evidence.detection.targets import NAMES, just, make
from agentd.model.command import Command, Kind
from agentd.patterns import regex

_MODULE = regex(r"<module>\s*([^<\s]+)\s*</module>")
_ITEM = regex(r"^\s*-\s*['\"]?([^'\"\n#]+?)['\"]?\s*(?:#.*)?$")


def covered(top: Folder) -> Callable[[Command], bool]:
    """A function that tells whether the root covers a command of a sub-folder."""
    scripts = _scripts(top)
    members = _members(top)
    modules = _MODULE.findall(top.text("pom.xml"))
    cargo = top.toml("Cargo.toml")
    outside = strings(table(cargo, "workspace").get("exclude"))
    used = compiled.go_modules(top) if top.has("go.work") else []
    gradle = bool(top.has("settings.gradle", "settings.gradle.kts"))

    def covers(command: Command) -> bool:
        tool, folder = command.run.split()[0], command.folder
        if any(_names(text, folder) for text in scripts.get(command.kind, ())):
            return True
        if tool in ("npm", "pnpm", "yarn", "npx", "node"):
            return command.kind in scripts and _matches(folder, members)
        if tool == "cargo":
            return "workspace" in cargo and not any(_below(folder, each) for each in outside)
        if tool in ("go", "govulncheck", "golangci-lint"):
            return folder in used
        if tool in ("mvn", "./mvnw"):
            return any(_below(folder, module) for module in modules)
        return tool in ("gradle", "./gradlew") and gradle

    return covers


def _scripts(top: Folder) -> dict[Kind, list[str]]:
    """The texts of the root's declared commands by kind; for a Makefile or justfile its whole text."""
    found: dict[Kind, list[str]] = {}
    for name, text in table(top.package, "scripts").items():
        if name in NAMES and isinstance(text, str) and PLACEHOLDER not in text:
            found.setdefault(NAMES[name], []).append(text)
    for command in (*just(top), *make(top)):
        found.setdefault(command.kind, []).append(top.text(command.source.partition(" ")[0]))
    return found


def _members(top: Folder) -> list[str]:
    """The folder patterns of an npm, yarn or pnpm workspace."""
    declared = top.package.get("workspaces")
    patterns = strings(declared.get("packages") if isinstance(declared, dict) else declared)
    listed = False
    for line in top.text("pnpm-workspace.yaml").splitlines():
        if match := _ITEM.match(line):
            patterns += [match[1]] if listed else []
        elif line.strip() and not line.lstrip().startswith("#"):
            listed = line.startswith("packages:")
    return [pattern.removeprefix("./").rstrip("/") for pattern in patterns]


def _matches(folder: str, patterns: list[str]) -> bool:
    taken = any(_matches_one(folder, each) for each in patterns if not each.startswith("!"))
    return taken and not any(_matches_one(folder, each[1:]) for each in patterns if each.startswith("!"))


def _matches_one(folder: str, pattern: str) -> bool:
    deep = "**" in pattern
    same = folder.count("/") == pattern.count("/")
    return (deep or same) and fnmatchcase(folder, pattern.replace("**", "*"))


def _names(text: str, folder: str) -> bool:
    return re.search(rf"(?<![\w./-])(?:\./)?{re.escape(folder)}(?![\w.-])", text) is not None


def _below(folder: str, parent: str) -> bool:
    return folder == parent or folder.startswith(f"{parent}/")
