"""The parser of each language that tests are read in."""

from agentd.proof.integrity import broken_python, compiled, javascript, python
from agentd.proof.integrity.compiled_languages import LANGUAGES
from agentd.proof.integrity.parsed import ParsedFile


def parse(language: str, *texts: str | None) -> list[ParsedFile]:
    """Versions of one file, all parsed the same way: line by line if one of them is not valid Python.

    A version that is None, or in a language that is not read, has no tests.
    """
    if language == "python":
        found = [ParsedFile() if text is None else python.parse(text) for text in texts]
        parsed = [each for each in found if each is not None]
        return parsed if len(parsed) == len(found) else [broken_python.parse(text or "") for text in texts]
    if language == "javascript":
        return [javascript.parse(text or "") for text in texts]
    return [compiled.parse(text or "", language) if language in LANGUAGES else ParsedFile() for text in texts]
