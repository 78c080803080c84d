"""specs/<id>.md as text and as a value, both ways. Nothing here reads or writes a file."""

from agentd.library.spec.differing import delta as delta
from agentd.library.spec.flaws import amiss as amiss
from agentd.library.spec.joining import first_marker as first_marker
from agentd.library.spec.merging import can_settle as can_settle
from agentd.library.spec.merging import merge as merge
from agentd.library.spec.parts import Span as Span
from agentd.library.spec.parts import split_requirements as split_requirements
from agentd.library.spec.reading import parse as parse
from agentd.library.spec.reading import read as read
from agentd.library.spec.repair import fill as fill
from agentd.library.spec.repair import tidy as tidy
from agentd.library.spec.writing import render as render
