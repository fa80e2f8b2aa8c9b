"""AutoGen's assistant in a team of one, which goes on while it calls. Arguments: the base URL and the prompt."""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from shell import run


async def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


async def main() -> None:
    client = OpenAIChatCompletionClient(
        model="scripted",
        base_url=sys.argv[1],
        api_key="dummy",
        max_retries=0,
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "family": "unknown",
            "structured_output": False,
        },
    )
    agent = AssistantAgent(
        "scripted", model_client=client, tools=[exec], max_tool_iterations=60, reflect_on_tool_use=False
    )
    result = await agent.run(task=sys.argv[2])
    print(result.messages[-1].content)


asyncio.run(main())
