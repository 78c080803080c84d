"""The kinds of values that tools take, with their limits."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

ChangeId = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=100),
    Field(description="The change this call works on"),
]
SpecId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=100)]
Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\r\n]*\S[^\r\n]*$")
]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Prose = Annotated[str, StringConstraints(strip_whitespace=True, min_length=10)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class Part(BaseModel):
    """A part of an argument: what it does not know is refused, never dropped."""

    model_config = ConfigDict(extra="forbid")
