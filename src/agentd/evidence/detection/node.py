"""How a Node project is tested, linted, type-checked and audited: its scripts, else what is configured. Reads only."""

from collections.abc import Iterator

from agentd.evidence.detection.folder import Folder, table
from agentd.evidence.detection.targets import NAMES
from agentd.model.command import Command, Kind
from agentd.patterns import regex

LOCKS = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
}
EXEC = {"npm": "npx --no-install", "pnpm": "pnpm exec", "yarn": "yarn run"}
RUNNERS = {"vitest": "vitest run", "jest": "jest", "mocha": "mocha"}
ESLINT = (
    *(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")),
    *(f".eslintrc{end}" for end in ("", ".js", ".cjs", ".json", ".yml", ".yaml")),
)
PLACEHOLDER = "no test specified"

_TEST_FILE = regex(r"(?:^|/)(?:[^/]+[.\-_]test|test|test-[^/]+)\.[cm]?js$|(?:^|/)test/[^/].*\.[cm]?js$")


def commands(folder: Folder, top: Folder) -> Iterator[Command]:
    """At most one command for each kind; a script comes first."""
    if not folder.has("package.json"):
        return
    manager, lock = manager_of(folder, top)
    seen: set[Kind] = set()
    scripts = table(folder.package, "scripts")
    for name, kind in NAMES.items():
        script = scripts.get(name)
        if kind not in seen and isinstance(script, str) and script.strip() and PLACEHOLDER not in script:
            seen.add(kind)
            run = f"{manager} test" if name == "test" else f"{manager} run {name}"
            yield folder.command(kind, run, f"package.json scripts.{name}")
    for command in _defaults(folder, manager, lock):
        if command.kind not in seen:
            yield command


def manager_of(folder: Folder, top: Folder) -> tuple[str, str]:
    """The package manager, and the lock file of this folder."""
    lock = folder.has(*LOCKS)
    for each in (folder, top):
        named = str(each.package.get("packageManager", "")).partition("@")[0]
        if named in EXEC:
            return named, lock
        if found := each.has(*LOCKS):
            return LOCKS[found], lock
    return "npm", lock


def _defaults(folder: Folder, manager: str, lock: str) -> Iterator[Command]:
    needed = {**table(folder.package, "dependencies"), **table(folder.package, "devDependencies")}
    runner = next((run for name, run in RUNNERS.items() if name in needed), "")
    test = next((file for file in folder.files if _TEST_FILE.search(file)), "")
    if runner:
        yield folder.command("test", f"{EXEC[manager]} {runner}", "package.json devDependencies")
    elif test:
        yield folder.command("test", "node --test", test)
    source = folder.has(*ESLINT) or ("package.json eslintConfig" if "eslintConfig" in folder.package else "")
    if source:
        yield folder.command("lint", f"{EXEC[manager]} eslint .", source)
    if folder.has("tsconfig.json"):
        yield folder.command("types", f"{EXEC[manager]} tsc --noEmit", "tsconfig.json")
    if lock:
        yield folder.command("audit", _audit(folder, LOCKS[lock], lock), lock)


def _audit(folder: Folder, manager: str, lock: str) -> str:
    # Yarn 2 and later have their own lock file format and command.
    return "yarn npm audit" if manager == "yarn" and "__metadata:" in folder.text(lock) else f"{manager} audit"
