"""specs/<id>.md: parsed, rendered, checked, fixed, compared and merged. No file is read or written here."""

from agentd.library.spec.headings import Span as Span
from agentd.library.spec.headings import split_requirements as split_requirements
from agentd.library.spec.merge_flaws import amiss as amiss
from agentd.library.spec.merged_text import first_marker as first_marker
from agentd.library.spec.requirement_delta import delta as delta
from agentd.library.spec.spec_fixes import fill as fill
from agentd.library.spec.spec_fixes import tidy as tidy
from agentd.library.spec.spec_reader import parse as parse
from agentd.library.spec.spec_reader import read as read
from agentd.library.spec.spec_writer import render as render
from agentd.library.spec.statuses import implemented as implemented
from agentd.library.spec.statuses import inherited as inherited
from agentd.library.spec.three_way_merge import can_settle as can_settle
from agentd.library.spec.three_way_merge import merge as merge
