"""One request of LiteLLM's guardrail to the server at WEIR_URL: prints `runs`, or the refusal. LiteLLM is a stand-in."""

import asyncio
import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from types import ModuleType, SimpleNamespace


class Refusal(Exception):
    def __init__(self, status_code, detail):
        super().__init__(detail["error"])


class Client:
    """httpx, without a package."""

    def __init__(self, **_):
        pass

    async def post(self, url, content, headers):
        request = urllib.request.Request(url, data=content, headers=headers, method="POST")
        try:
            with urllib.request.build_opener(NoRedirect).open(request) as answer:
                return answer_of(answer, answer.read())
        except urllib.error.HTTPError as error:
            return answer_of(error, error.read())


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def answer_of(answer, content):
    text = content.decode()
    return SimpleNamespace(
        status_code=answer.status, headers=answer.headers, content=content, text=text, json=lambda: json.loads(text)
    )


def module(name, **members):
    made = ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made


module("httpx", AsyncClient=Client, HTTPError=OSError)
module("fastapi", HTTPException=Refusal)
module("litellm", ModelResponse=object, ModelResponseStream=object)
module("litellm.integrations")
module("litellm.integrations.custom_guardrail", CustomGuardrail=object)
sys.path.insert(0, str(Path(__file__).parents[2] / "integrations" / "litellm"))

from weir_guardrail import WeirGuardrail  # noqa: E402




async def run():
    messages = [{"role": "user", "content": "100% – \n"}]
    data = {"model": "m", "messages": messages, "litellm_call_id": "1"}
    try:
        await WeirGuardrail().async_pre_call_hook(None, None, data, "acompletion")
        print("runs")
    except Refusal as refusal:
        print(refusal)


asyncio.run(run())
