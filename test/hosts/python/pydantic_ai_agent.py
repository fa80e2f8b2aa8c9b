"""Pydantic AI, which counts bad arguments itself: 30 retries leave the loop to Weir."""

import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=sys.argv[1], api_key="dummy")
agent = Agent(OpenAIChatModel("scripted", provider=provider), retries=30)


@agent.tool_plain
def exec(command: str) -> str:
    """Runs a command."""
    return f"ran {command}"


print(agent.run_sync("Do the task.").output)
