"""A scripted model: an HTTP server that speaks the protocols of four vendors and plays scenes instead of thinking.

It keeps no conversation: what to say next follows from the request alone, so retries, resumed conversations and agents
side by side are all the same to it. Only the failures of a scene are counted.
"""

from tests.contract.model.scenes import Scenes
from tests.contract.model.server import FakeModel, Request

__all__ = ["FakeModel", "Request", "Scenes"]
