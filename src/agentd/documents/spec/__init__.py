"""specs/<id>.md as text and as a value, both ways. Nothing here reads or writes a file."""

from agentd.documents.spec.differing import delta as delta
from agentd.documents.spec.flaws import amiss as amiss
from agentd.documents.spec.joining import first_marker as first_marker
from agentd.documents.spec.merging import can_settle as can_settle
from agentd.documents.spec.merging import merge as merge
from agentd.documents.spec.parts import Span as Span
from agentd.documents.spec.parts import split_requirements as split_requirements
from agentd.documents.spec.reading import parse as parse
from agentd.documents.spec.reading import read as read
from agentd.documents.spec.repair import fill as fill
from agentd.documents.spec.repair import tidy as tidy
from agentd.documents.spec.writing import render as render
