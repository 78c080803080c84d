"""The archive as a whole: what the records of all archived changes say."""

from pathlib import Path

from agentd.families.change import ARCHIVE
from agentd.families.change.archive import record
from agentd.families.change.archive.record import Record


def records(root: Path) -> list[tuple[Path, Record]]:
    """Every record there is with the folder it is in, the oldest first."""
    folders = [path.parent for path in sorted((root / ARCHIVE).glob(f"*/{record.NAME}"))]
    read = ((folder, record.read(folder)) for folder in folders)
    return sorted(((folder, one) for folder, one in read if one is not None), key=lambda found: found[1].at)
