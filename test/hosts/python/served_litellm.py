"""litellm against `weir serve`. Argument: the base URL. Prints the checks that held."""

import sys

import litellm

CLIENT = {"model": "openai/weir/helper", "api_base": sys.argv[1], "api_key": "none"}


def check(name: str, holds: bool) -> None:
    if not holds:
        sys.exit(f"failed: {name}")
    print(name, end=", ")


messages = [{"role": "user", "content": "What time is it?"}]
whole = litellm.completion(**CLIENT, messages=messages)
check("completion", whole.choices[0].message.content == "It is noon.")

messages += [
    {"role": "assistant", "content": whole.choices[0].message.content},
    {"role": "user", "content": "And where?"},
]
chunks = litellm.completion(**CLIENT, messages=messages, stream=True)
text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
check("a streamed resent history", text == "Here.")

response = litellm.responses(**CLIENT, input="What time is it?")
items = [item.type for item in response.output]
check("responses", items == ["mcp_call", "message"] and response.status == "completed")
check("outcome", response.metadata["weir_outcome"] == "answered")

seat = [{"role": "user", "content": "A seat, please."}]
asked = litellm.completion(**CLIENT, messages=seat).choices[0].message
call = asked.tool_calls[0]
check("tool_calls", call.function.name == "seat")
result = {"role": "tool", "tool_call_id": call.id, "content": "14A"}
done = litellm.completion(**CLIENT, messages=[*seat, asked.model_dump(), result])
check("a result", done.choices[0].message.content == "14A it is.")
