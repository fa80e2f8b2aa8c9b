"""LangGraph's prebuilt agent. Arguments: the base URL."""

import sys

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent


@tool
def exec(command: str) -> str:
    """Runs a command."""
    return f"ran {command}"


model = ChatOpenAI(base_url=sys.argv[1], api_key="dummy", model="scripted", max_retries=0)
agent = create_react_agent(model, [exec])
state = agent.invoke({"messages": [("user", "Do the task.")]}, {"recursion_limit": 60})
print(state["messages"][-1].content)
