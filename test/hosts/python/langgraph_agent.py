"""LangGraph's prebuilt agent. Arguments: the base URL and the prompt."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from shell import run


@tool
def exec(command: str) -> str:
    """Runs a command."""
    return run(command)


model = ChatOpenAI(base_url=sys.argv[1], api_key="dummy", model="scripted", max_retries=0)
agent = create_react_agent(model, [exec])
state = agent.invoke({"messages": [("user", sys.argv[2])]}, {"recursion_limit": 200})
print(state["messages"][-1].content)
