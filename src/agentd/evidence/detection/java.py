"""How Java projects are tested: Maven or Gradle, by the wrapper that the project ships where it does. Reads only."""

from collections.abc import Iterator

from agentd.evidence.detection.folder import Folder
from agentd.model.evidence import Command


def commands(folder: Folder) -> Iterator[Command]:
    """Maven is not told to be quiet: it would not say how many tests there were."""
    if folder.has("pom.xml"):
        yield folder.command("test", f"{'./mvnw' if folder.has('mvnw') else 'mvn'} -B test", "pom.xml")
    elif file := folder.has("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"):
        yield folder.command("test", f"{'./gradlew' if folder.has('gradlew') else 'gradle'} test", file)
