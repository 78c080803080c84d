"""How Rust, Go and Java projects are tested, linted and audited. Reads only."""

import re
from collections.abc import Iterator

from agentd.evidence.detection.folder import Folder, table
from agentd.model.command import Command
from agentd.patterns import regex

GOLANGCI = (".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json")

_USE = regex(r"^use[ \t]+([^\s(]+)[ \t]*$|^use[ \t]*\(([^)]*)\)", re.MULTILINE)
_REQUIRE = regex(r"^require\b", re.MULTILINE)


def rust(folder: Folder) -> Iterator[Command]:
    """Tests of the whole workspace; clippy only if it is configured."""
    if not folder.has("Cargo.toml"):
        return
    data = folder.toml("Cargo.toml")
    whole = " --workspace" if "workspace" in data else ""
    yield folder.command("test", f"cargo test{whole}", "Cargo.toml")
    source = folder.has("clippy.toml", ".clippy.toml")
    if not source and (table(data, "lints", "clippy") or table(data, "workspace", "lints", "clippy")):
        source = "Cargo.toml lints.clippy"
    if source:
        yield folder.command("lint", f"cargo clippy{whole} --all-targets -- -D warnings", source)
    if folder.has("Cargo.lock"):
        yield folder.command("audit", "cargo audit", "Cargo.lock")


def go(folder: Folder) -> Iterator[Command]:
    """Every package of the module, or of the modules that go.work names."""
    file = folder.has("go.work", "go.mod")
    if not file:
        return
    modules = go_modules(folder) if file == "go.work" else ["."]
    packages = " ".join("./..." if module == "." else f"./{module}/..." for module in modules)
    if not packages:
        return
    yield folder.command("test", f"go test {packages}", file)
    if source := folder.has(*GOLANGCI):
        yield folder.command("lint", "golangci-lint run --fix=false", source)
    else:
        yield folder.command("lint", f"go vet {packages}", file)
    mods = [folder.text("go.mod" if module == "." else f"{module}/go.mod") for module in modules]
    if any(_REQUIRE.search(text) for text in mods):
        yield folder.command("audit", f"govulncheck {packages}", file)


def java(folder: Folder) -> Iterator[Command]:
    """Maven or Gradle, by the project's wrapper if it has one. Without -q, Maven prints how many tests there were."""
    if folder.has("pom.xml"):
        yield folder.command("test", f"{'./mvnw' if folder.has('mvnw') else 'mvn'} -B test", "pom.xml")
    elif file := folder.has("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"):
        yield folder.command("test", f"{'./gradlew' if folder.has('gradlew') else 'gradle'} test", file)


def go_modules(folder: Folder) -> list[str]:
    """The modules of a go.work, as paths from its folder, without those outside of it."""
    found = []
    for match in _USE.finditer(folder.text("go.work")):
        for line in (match[1] or match[2]).splitlines():
            module = line.partition("//")[0].strip().strip('"').removeprefix("./").rstrip("/") or "."
            if line.strip() and re.fullmatch(r"[\w./-]+", module) and not module.startswith(("..", "/")):
                found.append(module)
    return found
