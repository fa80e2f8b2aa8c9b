"""Pydantic AI, which counts bad arguments itself: 60 retries leave the loop to Weir. Arguments: the base URL
and the prompt."""

import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from shell import run

provider = OpenAIProvider(base_url=sys.argv[1], api_key="dummy")
agent = Agent(OpenAIChatModel("scripted", provider=provider), retries=60)


@agent.tool_plain
def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


print(agent.run_sync(sys.argv[2]).output)
