"""The repository that whole runs work in."""

from tests.cli.conftest import sandbox as sandbox
from tests.cli.conftest import sandbox_once as sandbox_once
