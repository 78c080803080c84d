"""The repository every test of planning works in."""

from tests.cli.conftest import planned as planned
from tests.cli.conftest import planned_once as planned_once
from tests.cli.conftest import sandbox as sandbox
from tests.cli.conftest import sandbox_once as sandbox_once
from tests.cli.conftest import tmp_path as tmp_path
