"""OpenAI's Agents SDK with the Responses API. Arguments: the base URL and the prompt."""

import asyncio
import sys

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from shell import run

set_tracing_disabled(True)


@function_tool
def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


async def main() -> None:
    client = AsyncOpenAI(base_url=sys.argv[1], api_key="dummy", max_retries=0)
    model = OpenAIResponsesModel(model="scripted", openai_client=client)
    agent = Agent(name="scripted", model=model, tools=[exec])
    result = await Runner.run(agent, sys.argv[2], max_turns=100)
    print(result.final_output)


asyncio.run(main())
