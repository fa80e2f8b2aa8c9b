"""Weir as a guardrail of LiteLLM's proxy: judges each Chat Completion by `/v1/guest` of a running Weir.

Reads: requests and answers of the proxy. Writes: Weir's advice to requests, and answers without denied calls.
Without Weir no request goes to the model, and no call goes to the client. A server without Weir's mark
(apps/http/fronts/front-mark.ts) is none.
"""

import asyncio
import copy
import hashlib
import json
import os
import time
from typing import Any
from urllib.parse import quote

import httpx
import litellm
from fastapi import HTTPException
from litellm.integrations.custom_guardrail import CustomGuardrail

CHAT = {"completion", "acompletion"}
# Their answers carry no call. All other APIs are refused, those of later versions of LiteLLM too.
WITHOUT_CALLS = {
    "embedding",
    "aembedding",
    "embeddings",
    "moderation",
    "amoderation",
    "image_generation",
    "aimage_generation",
    "image_edit",
    "aimage_edit",
    "audio_transcription",
    "transcription",
    "atranscription",
    "speech",
    "aspeech",
    "rerank",
    "arerank",
    "ocr",
    "aocr",
    "atext_completion",
    "acreate_file",
}
SESSION_HEADERS = ("x-weir-conversation", "x-litellm-session-id", "x-session-id")
PERSONS_SECONDS = 600
OPEN_MAX = 10_000


class WeirGuardrail(CustomGuardrail):
    """`api_base`: where Weir listens. `agent`: the guest's name in Weir's log."""

    def __init__(self, api_base: str | None = None, agent: str | None = None, **options: Any):
        super().__init__(**options)
        base = api_base or os.environ.get("WEIR_URL") or "http://127.0.0.1:4141"
        name = agent or os.environ.get("WEIR_AGENT") or "litellm"
        self.url = f"{base.rstrip('/')}/v1/guest/{quote(name, safe='')}"
        self.client = httpx.AsyncClient(timeout=60, trust_env=False)
        # The requests whose answers are not there yet, by LiteLLM's id.
        self.requests: dict[str, dict[str, Any]] = {}

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        """Asks for advice on the request, and applies it."""
        if call_type in WITHOUT_CALLS:
            return data
        if call_type not in CHAT:
            raise refusal(400, "this guardrail judges Chat Completions only; send this API through weir proxy")
        if data.get("n") not in (None, 1):
            raise refusal(400, "n must be 1: Weir judges one choice")
        if any(isinstance(tool, dict) and tool.get("type") == "mcp" for tool in data.get("tools") or []):
            raise refusal(400, "LiteLLM may run calls of MCP servers unjudged: declare them as functions")
        request = {
            "conversation": conversation_of(data, user_api_key_dict),
            "format": "openai-chat",
            "body": copy.deepcopy({name: data[name] for name in BODY if name in data}),
        }
        advice = await self.ask("before-model", request)
        if advice["action"] == "end":
            text = f"{advice['reason']} {advice['fallback']}"
            self.raise_passthrough_exception(violation_message=text, request_data=data)
        data.update({name: value for name, value in advice["applied"].items() if name in BODY})
        for name in BODY:
            if name not in advice["applied"]:
                data.pop(name, None)
        if len(self.requests) >= OPEN_MAX:  # of calls that had no answer
            self.requests.pop(next(iter(self.requests)))
        self.requests[data["litellm_call_id"]] = request
        return data

    async def async_post_call_success_hook(self, data, user_api_key_dict, response):
        """Takes the denied calls out of an answer."""
        if isinstance(response, litellm.ModelResponse):
            await self.judge(data, response)
        return response

    async def async_post_call_streaming_iterator_hook(self, user_api_key_dict, response, request_data):
        """Holds a stream until its calls are judged. Without a denied call the client gets its chunks."""
        chunks = [chunk async for chunk in response]
        if not chunks or not all(isinstance(chunk, litellm.ModelResponseStream) for chunk in chunks):
            raise refusal(400, "the stream is no Chat Completion, so Weir cannot judge it")
        if any(choice.index != 0 for chunk in chunks for choice in chunk.choices):
            raise refusal(502, "the model gave several choices, and Weir judges one")
        whole = litellm.stream_chunk_builder(chunks)
        if not await self.judge(request_data, whole):
            for chunk in chunks:
                yield chunk
            return
        choice = whole.choices[0]
        calls = [{"index": at, **call.model_dump()} for at, call in enumerate(choice.message.tool_calls or [])]
        delta = {"role": "assistant", "content": choice.message.content}
        if calls:
            delta["tool_calls"] = calls
        yield litellm.ModelResponseStream(
            id=whole.id,
            model=whole.model,
            choices=[{"index": 0, "delta": delta, "finish_reason": choice.finish_reason}],
        )

    async def judge(self, data: dict[str, Any], response: Any) -> bool:
        """Whether a call was denied. The answer is then changed."""
        request = self.requests.pop(data.get("litellm_call_id", ""), None)
        if request is None:
            raise refusal(503, "the request of this answer was not judged")
        if len(response.choices) != 1:
            raise refusal(502, "the model gave several choices, and Weir judges one")
        choice = response.choices[0]
        calls = choice.message.tool_calls or []
        answer = response.model_dump(exclude_none=True)
        deadline = time.monotonic() + PERSONS_SECONDS
        while True:
            verdicts = (await self.ask("after-model?waitMs=25000", {**request, "answer": answer}))["calls"]
            if all(one["verdict"] != "pending" for one in verdicts) or time.monotonic() > deadline:
                break
        if len(verdicts) != len(calls):
            raise refusal(503, "the verdicts are not those of the calls")
        denied = [one for one in verdicts if one["verdict"] != "allow"]
        if not denied:
            return False
        texts = [choice.message.content, *(one["text"] or "The call was not run." for one in denied)]
        choice.message.content = "\n\n".join(text for text in texts if text)
        allowed = [call for call, one in zip(calls, verdicts) if one["verdict"] == "allow"]
        choice.message.tool_calls = allowed or None
        if not allowed:
            choice.finish_reason = "stop"
        return True

    async def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        url, content, secret, nonce = f"{self.url}/{path}", json.dumps(body).encode(), own_secret(), os.urandom(16).hex()
        headers = {"content-type": "application/json"}
        if secret is not None:
            headers["x-weir-nonce"] = nonce
        try:
            answer = await self.client.post(url, content=content, headers=headers)
        except httpx.HTTPError as error:
            raise refusal(503, f"Weir does not answer at {self.url}: start weir proxy ({type(error).__name__})")
        if answer.status_code >= 300:
            raise refusal(503, f"Weir refused to judge: {answer.text[:500]}")
        lines = [secret, nonce, url[url.index("/v1/") :], sha256(content), sha256(answer.content), secret]
        mark = "weir/1" if secret is None else "weir/1 " + sha256("".join(f"{line}\n" for line in lines).encode())
        if answer.headers.get("x-weir-mark") != mark:
            raise refusal(503, f"another server answers at {self.url} in place of your Weir")
        return answer.json()


# The members of a request that Weir reads or changes.
BODY = ("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")


def own_secret() -> str | None:
    """The secret that this user's Weir has too. None: there is none, or the user wants no proof."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = state if os.path.isabs(state) else os.path.expanduser("~/.local/state")
    if os.environ.get("WEIR_PROOF") == "off":
        return None
    try:
        with open(os.path.join(folder, "weir", "owner"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def refusal(status: int, text: str) -> HTTPException:
    return HTTPException(status_code=status, detail={"error": f"weir: {text}"})


def conversation_of(data: dict[str, Any], key: Any) -> str:
    """The session that the client names. Without one: the key, and the messages up to the first answer."""
    owner = getattr(key, "api_key", None) or "none"
    headers = (data.get("proxy_server_request") or {}).get("headers") or {}
    names = [headers.get(name) for name in SESSION_HEADERS] + [data.get("litellm_session_id")]
    named = next((name for name in names if isinstance(name, str) and name), None)
    if named is None:
        messages = data.get("messages") or []
        first = next((at for at, one in enumerate(messages) if one.get("role") == "assistant"), None)
        # Before the first answer nothing tells two runs with one prompt apart.
        if first is None:
            return f"run-{data['litellm_call_id']}"
        named = json.dumps(messages[: first + 1], sort_keys=True, default=str)
    return hashlib.sha256(json.dumps([owner, named]).encode()).hexdigest()[:32]
