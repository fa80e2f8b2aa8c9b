"""smolagents' agent with tool calls. It sends failures as texts, without the call. Arguments: the base URL and the prompt."""

import sys

from shell import run
from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent, tool


@tool
def exec(command: str) -> str:
    """Runs a command.

    Args:
        command: the command
    """
    return run(command)


model = OpenAIServerModel(model_id="scripted", api_base=sys.argv[1], api_key="dummy")
agent = ToolCallingAgent(tools=[exec], model=model, max_steps=60, verbosity_level=LogLevel.OFF)
print(agent.run(sys.argv[2]))
