"""The official client against `weir serve`. Argument: the base URL. Prints the checks that held."""

import sys

from openai import BadRequestError, OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="none", max_retries=2)
MODEL = "weir/helper"


def check(name: str, holds: bool) -> None:
    if not holds:
        sys.exit(f"failed: {name}")
    print(name, end=", ")


check("models", [one.id for one in client.models.list()] == [MODEL])

with client.responses.stream(model=MODEL, input="What time is it?") as stream:
    events = list(stream)
    first = stream.get_final_response()
check("stream", first.status == "completed" and first.output_text.endswith("It is noon."))
calls = [item for item in first.output if item.type == "mcp_call"]
check("mcp_call", [(one.name, one.status, one.output) for one in calls] == [("clock", "completed", "noon")])

middle = events[len(events) // 2].sequence_number
rest = list(client.responses.retrieve(first.id, stream=True, starting_after=middle))
check("starting_after", rest[0].sequence_number > middle and rest[-1].type == "response.completed")

asked = client.responses.create(model=MODEL, input="Deploy it.", previous_response_id=first.id)
request = asked.output[-1]
check("mcp_approval_request", request.type == "mcp_approval_request" and request.name == "deploy")
answer = {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": True}
done = client.responses.create(model=MODEL, input=[answer], previous_response_id=asked.id)
check("mcp_approval_response", done.output_text == "It is live.")

asked = client.responses.create(model=MODEL, input="A seat, please.", previous_response_id=done.id)
call = asked.output[-1]
check("function_call", call.type == "function_call" and call.name == "seat")
try:
    client.responses.create(model=MODEL, input="Hurry.", previous_response_id=asked.id)
    sys.exit("failed: a message behind an open call")
except BadRequestError as error:
    waiting = [{"id": call.call_id, "name": "seat"}]
    check("call.unanswered", error.code == "call.unanswered" and error.body["calls"] == waiting)
result = {"type": "function_call_output", "call_id": call.call_id, "output": "14A"}
answered = [
    client.responses.create(model=MODEL, input=[result], previous_response_id=asked.id)
    for _ in range(2)
]
check("function_call_output", [one.output_text for one in answered] == ["14A it is."] * 2)
check("metadata", answered[0].metadata["weir_outcome"] == "answered")

begun = client.responses.create(model=MODEL, input="Wait.", background=True)
check("background and cancel", client.responses.cancel(begun.id).status == "cancelled")
ended = client.responses.retrieve(begun.id).metadata
check("class", (ended["weir_outcome"], ended["weir_class"]) == ("cancelled", "cancelled"))

messages = [{"role": "user", "content": "What time is it?"}]
chunks = client.chat.completions.create(model=MODEL, messages=messages, stream=True)
text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
check("chat completions", text.endswith("It is noon."))

whole = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "Hi."}])
check("outcome", whole.model_extra["weir"]["outcome"] == "answered")
