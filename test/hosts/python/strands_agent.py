"""Strands. Arguments: the base URL and the prompt."""

import sys

from shell import run
from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


client = {"base_url": sys.argv[1], "api_key": "dummy", "max_retries": 0}
model = OpenAIModel(client_args=client, model_id="scripted")
agent = Agent(model=model, tools=[exec], callback_handler=None)
print(agent(sys.argv[2]))
