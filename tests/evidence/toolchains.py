"""The toolchains that tests of evidence run for real: what CI must have, and how each gets it. One row, one tool.

A tool that is not here is never run by a test: what it prints is recorded. `.ci/run` installs the packages.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

SUREFIRE = Path("/usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin")


@dataclass(frozen=True)
class Toolchain:
    """The program on the PATH, the Debian packages or the npm package that bring it, and a path they must have made."""

    program: str
    debian: tuple[str, ...] = ()
    npm: str = ""
    path: Path | None = None

    @property
    def here(self) -> bool:
        return shutil.which(self.program) is not None and (self.path is None or self.path.exists())


PROMISED = {
    "python3": Toolchain("python3", ("python3",)),
    "make": Toolchain("make", ("make",)),
    "npm": Toolchain("npm", ("nodejs", "npm")),
    "pnpm": Toolchain("pnpm", npm="pnpm@9"),
    "yarn": Toolchain("yarn", npm="yarn@1"),
    "cargo": Toolchain("cargo", ("cargo",)),
    "go": Toolchain("go", ("golang-go",)),
    "mvn": Toolchain(
        "mvn",
        (
            *("maven", "default-jdk-headless", "junit4", "libsurefire-java"),
            *("libmaven-compiler-plugin-java", "libmaven-resources-plugin-java"),
        ),
        path=SUREFIRE,
    ),
}
