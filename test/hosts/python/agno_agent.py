"""Agno. Arguments: the base URL and the prompt."""

import sys

from agno.agent import Agent
from agno.models.openai.like import OpenAILike
from shell import run


def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


model = OpenAILike(id="scripted", base_url=sys.argv[1], api_key="dummy", max_retries=0)
agent = Agent(model=model, tools=[exec], telemetry=False)
print(agent.run(sys.argv[2]).content)
