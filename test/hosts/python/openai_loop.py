"""A plain loop on the official client, with Chat Completions. Arguments: the base URL and the prompt."""

import json
import sys

from openai import OpenAI
from shell import run

client = OpenAI(base_url=sys.argv[1], api_key="dummy", max_retries=0)
TOOL = {
    "type": "function",
    "function": {
        "name": "exec",
        "description": "Runs a command.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}


def result_of(arguments: str) -> str:
    try:
        return run(json.loads(arguments)['command'])
    except (KeyError, TypeError, ValueError) as error:
        return f"error: {error!r}"


messages: list = [{"role": "user", "content": sys.argv[2]}]
for _ in range(100):
    answer = client.chat.completions.create(model="scripted", messages=messages, tools=[TOOL])
    message = answer.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        print(message.content)
        break
    for call in message.tool_calls:
        result = result_of(call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
