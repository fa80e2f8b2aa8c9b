"""What the guardrail of LiteLLM does with APIs, tools and answers, each in a line. LiteLLM itself is a stand-in."""

import asyncio
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace


class Refusal(Exception):
    def __init__(self, status_code, detail):
        super().__init__(detail["error"])
        self.status = status_code


class Model:
    """A value of LiteLLM with these members."""

    def __init__(self, **members):
        self.__dict__.update(members)

    def model_dump(self, **_):
        return {}


def module(name, **members):
    made = ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


class Client:
    def __init__(self, **_):
        pass

    async def post(self, url, content, headers):
        calls = [{"verdict": "allow", "text": None} for _ in calls_of(WHOLE)]
        answer = {"action": "none", "applied": json.loads(content)["body"], "calls": calls}
        headers = {"x-weir-mark": "weir/1"}
        return SimpleNamespace(status_code=200, headers=headers, content=b"", text="", json=lambda: answer)


class Chunk(Model):
    pass


module("httpx", AsyncClient=Client, HTTPError=OSError)
module("fastapi", HTTPException=Refusal)
module("litellm", ModelResponse=Model, ModelResponseStream=Chunk, stream_chunk_builder=lambda _: WHOLE)
module("litellm.integrations")
module("litellm.integrations.custom_guardrail", CustomGuardrail=object)
sys.path.insert(0, str(Path(__file__).parents[2] / "integrations" / "litellm"))

from weir_guardrail import WeirGuardrail  # noqa: E402


def choice(index=0):
    return Model(index=index, finish_reason="tool_calls", message=Model(content="", tool_calls=[Model(id="c")]))


def calls_of(whole):
    return whole.choices[0].message.tool_calls


WHOLE = Model(choices=[choice()])


async def outcome(work):
    try:
        return f"passes {await work}"
    except Refusal as refusal:
        return f"{refusal.status} {refusal}"


async def request(api, **more):
    data = {"litellm_call_id": "1", "model": "m", "messages": [], **more}
    await WeirGuardrail().async_pre_call_hook(None, None, data, api)
    return "unchanged"


async def answer(*choices):
    guardrail = WeirGuardrail()
    guardrail.requests["1"] = {"body": {}}
    whole = await guardrail.async_post_call_success_hook({"litellm_call_id": "1"}, None, Model(choices=choices))
    return len(whole.choices)


async def stream(*pieces):
    guardrail = WeirGuardrail()
    guardrail.requests["1"] = {"body": {}}

    async def chunks():
        for piece in pieces:
            yield piece

    data = {"litellm_call_id": "1"}
    return len([one async for one in guardrail.async_post_call_streaming_iterator_hook(None, chunks(), data)])


async def main():
    for api in ["acompletion", "aembedding", "aresponses", "pass_through_endpoint", "_arealtime", "of a later version"]:
        print(f"{api}: {await outcome(request(api))}")
    print(f"a function: {await outcome(request('acompletion', tools=[{'type': 'function'}]))}")
    print(f"an MCP server: {await outcome(request('acompletion', tools=[{'type': 'mcp'}]))}")
    print(f"one choice: {await outcome(answer(choice()))}")
    print(f"two choices: {await outcome(answer(choice(), choice(1)))}")
    one, second = Chunk(choices=[choice()]), Chunk(choices=[choice(1)])
    print(f"a stream: {await outcome(stream(one, one))}")
    print(f"a stream of two choices: {await outcome(stream(one, second))}")
    print(f"a stream with another piece: {await outcome(stream(one, object()))}")
    print(f"an empty stream: {await outcome(stream())}")


asyncio.run(main())
