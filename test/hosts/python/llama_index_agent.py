"""LlamaIndex's agent with functions. Arguments: the base URL and the prompt."""

import asyncio
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from shell import run


def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


async def main() -> None:
    llm = OpenAILike(
        model="scripted",
        api_base=sys.argv[1],
        api_key="dummy",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )
    agent = FunctionAgent(tools=[exec], llm=llm)
    print(await agent.run(sys.argv[2], max_iterations=60))


asyncio.run(main())
