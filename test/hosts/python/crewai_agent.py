"""CrewAI with one agent and one task. Arguments: the base URL and the prompt."""

import sys

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from shell import run


@tool("exec")
def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


llm = LLM(model="openai/scripted", base_url=sys.argv[1], api_key="dummy")
agent = Agent(role="worker", goal="Works.", backstory="-", tools=[exec], llm=llm, max_iter=60)
task = Task(description=sys.argv[2], expected_output="A text.", agent=agent)
print(Crew(agents=[agent], tasks=[task]).kickoff())
