"""A plain loop on the official client, with Chat Completions. Arguments: the base URL."""

import json
import sys

from openai import OpenAI

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


def run(arguments: str) -> str:
    try:
        return f"ran {json.loads(arguments)['command']}"
    except (KeyError, ValueError) as error:
        return f"error: {error!r}"


messages: list = [{"role": "user", "content": "Do the task."}]
for _ in range(30):
    answer = client.chat.completions.create(model="scripted", messages=messages, tools=[TOOL])
    message = answer.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        print(message.content)
        break
    for call in message.tool_calls:
        result = run(call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
