"""Weir's plug-in for Hermes: each call waits for Weir's verdict, and a turn without progress ends.

Hermes lets a call run if a hook raises. So no hook of this file raises: without an answer of Weir it
denies the call and ends the turn. A server without Weir's mark (apps/http/fronts/front-mark.ts) is none.
Hermes has no hook that ends a turn, so the plug-in answers the next
request to the model itself, with the reason as text.
"""

import hashlib
import http.client
import json
import os
import subprocess
import threading
from types import SimpleNamespace as Value
from urllib.parse import urlsplit

WEIR_PACKAGE = "weir-agents@0.2.0"
START_SECONDS = 115  # npx may have to fetch Weir first
ANSWER_SECONDS = 25
VERDICT_SECONDS = 605  # a person may have to decide; Weir gives up earlier
KEPT_MAX = 10_000
REASON_CHARACTERS_MAX = 400


def register(ctx):
    weir = Weir(os.environ)
    ctx.register_hook("pre_llm_call", weir.prompt)
    ctx.register_hook("pre_tool_call", weir.before)
    ctx.register_hook("post_tool_call", weir.after)
    ctx.register_hook("transform_tool_result", weir.shown)
    ctx.register_hook("on_session_end", weir.stop)
    ctx.register_middleware("llm_execution", weir.request)


class Weir:
    def __init__(self, environment):
        url = urlsplit(environment.get("WEIR_URL") or "http://127.0.0.1:4141")
        self.origin = f"{url.scheme}://{url.netloc}"
        self.command = environment.get("WEIR_COMMAND") or f"npx --yes {WEIR_PACKAGE}"
        self.starting = threading.Lock()
        self.start_error = None  # undecided; '' after a start
        self.ends = {}  # the reason why a turn has ended, by session and turn
        self.advice = {}  # the advice on each known call, by session and call

    def prompt(self, *, session_id="", turn_id="", user_message="", **_):
        self.start_error = None
        body = {"prompt": text_of(user_message)}
        self.asked("prompt", "UserPromptSubmit", (session_id, turn_id), body)

    def before(self, **event):
        try:
            return self.verdict(**event)
        except Exception as error:  # also an event that a newer Hermes shows in another way
            return {"action": "block", "message": no_answer(error)}

    def verdict(self, *, tool_name, args, session_id="", turn_id="", tool_call_id="", **_):
        keep(self.advice, (session_id, tool_call_id), "")
        call = call_in(tool_call_id, tool_name, args)
        place = (session_id, turn_id)
        answer = self.asked("pre", "PreToolUse", place, call, VERDICT_SECONDS)
        output = answer.get("hookSpecificOutput", {})
        denial = self.ends.get(place)
        if denial is None and output.get("permissionDecision") == "deny":
            denial = str(output.get("permissionDecisionReason"))
        return None if denial is None else {"action": "block", "message": denial}

    def after(self, *, tool_name, args, result, session_id="", turn_id="", tool_call_id="", status="", **_):
        call = call_in(tool_call_id, tool_name, args)
        call["tool_response" if status == "ok" else "error"] = text_of(result)
        answer = self.asked("batch", "PostToolBatch", (session_id, turn_id), {"tool_calls": [call]})
        if answer.get("continue") is False:
            keep(self.ends, (session_id, turn_id), str(answer.get("stopReason")))
        advice = answer.get("hookSpecificOutput", {}).get("additionalContext")
        keep(self.advice, (session_id, tool_call_id), advice if isinstance(advice, str) else "")

    def shown(self, *, result, session_id="", tool_call_id="", **_):
        advice = self.advice.get((session_id, tool_call_id))
        if not advice or not isinstance(result, str):
            return None
        keep(self.advice, (session_id, tool_call_id), "")  # the history has this text now
        return f"{result}\n\n{advice}"

    def stop(self, *, session_id="", turn_id="", **_):
        try:
            self.post("stop", "Stop", (session_id, turn_id), {}, ANSWER_SECONDS)
        except Exception:
            pass  # no call waits for this answer

    def request(self, *, request, next_call, session_id="", turn_id="", api_mode="", model="", **_):
        """Answers a request of a turn that has ended, and shows advice on calls that Hermes refused."""
        if api_mode == "chat_completions":
            messages = self.judged(request.get("messages") or [], (session_id, turn_id))
            request = {**request, "messages": messages}
        reason = self.ends.get((session_id, turn_id))
        answer = None if reason is None else answer_with(reason, model, api_mode)
        return next_call(request) if answer is None else answer

    def judged(self, messages, place):
        """A call of an unknown tool, or with arguments that are no JSON, reaches no hook."""
        session, turn = place
        prompt = max((at for at, one in enumerate(messages) if one.get("role") == "user"), default=-1)
        calls = {
            call["id"]: call["function"]
            for one in messages
            for call in one.get("tool_calls") or []
        }
        for at, one in enumerate(messages):
            call_id = one.get("tool_call_id")
            if at > prompt and call_id in calls and (session, call_id) not in self.advice:
                function = calls[call_id]
                self.after(
                    tool_name=function["name"],
                    args=function["arguments"],
                    result=one.get("content"),
                    session_id=session,
                    turn_id=turn,
                    tool_call_id=call_id,
                    status="error",
                )
        return [
            {**one, "content": f"{text_of(one.get('content'))}\n\n{advice}"}
            if (advice := self.advice.get((session, one.get("tool_call_id"))))
            else one
            for one in messages
        ]

    def asked(self, kind, event, place, body, seconds=ANSWER_SECONDS):
        """The answer of Weir. Without one the turn ends."""
        try:
            return self.post(kind, event, place, body, seconds)
        except Exception as error:
            keep(self.ends, place, no_answer(error))
            return {}

    def post(self, kind, event, place, body, seconds):
        session, turn = place
        head = {"hook_event_name": event, "session_id": session, "turn_id": turn}
        sent = json.dumps({**head, **body}, default=str)
        path = f"/v1/hooks/hermes/{kind}"
        try:
            return post_json(self.origin, path, sent, seconds)
        except ConnectionRefusedError:
            if kind == "stop":
                raise
            self.start()
            return post_json(self.origin, path, sent, seconds)

    def start(self):
        """`weir hooks start` starts none if one answers. Its outcome holds until the next prompt."""
        with self.starting:
            if self.start_error is None:
                self.start_error = start_error(f"{self.command} hooks start --url {self.origin}")
            if self.start_error:
                raise RuntimeError(self.start_error)


def start_error(command):
    """'' if the server answers now."""
    run = subprocess.run(
        command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=START_SECONDS
    )
    if run.returncode == 0:
        return ""
    errors = run.stderr.decode(errors="replace").strip()[-REASON_CHARACTERS_MAX:]
    return errors or f"{command} ended with exit code {run.returncode}"


def post_json(origin, path, body, seconds):
    """Not urllib, which follows redirects and sends the body through a proxy of the environment."""
    url, sent, secret, nonce = urlsplit(origin), body.encode(), own_secret(), os.urandom(16).hex()
    headers = {"content-type": "application/json"}
    if secret is not None:
        headers["x-weir-nonce"] = nonce
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    connection = kinds[url.scheme](url.hostname, url.port, timeout=seconds)
    try:
        connection.request("POST", path, sent, headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(f"status {response.status}")
        lines = [secret, nonce, path, sha256(sent), sha256(content), secret]
        mark = "weir/1" if secret is None else "weir/1 " + sha256("".join(f"{line}\n" for line in lines).encode())
        if response.headers.get("x-weir-mark") != mark:
            raise RuntimeError(f"another server answers at {origin} in place of your Weir")
        text = content.decode()
        answer = json.loads(text) if text else {}
        if not isinstance(answer, dict) or not isinstance(answer.get("hookSpecificOutput", {}), dict):
            raise RuntimeError(f"the answer {text[:80]}")
        return answer
    finally:
        connection.close()


def own_secret():
    """The secret that this user's Weir has too. None: there is none yet, or the user wants no proof."""
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = state if os.path.isabs(state) else os.path.expanduser("~/.local/state")
    if os.environ.get("WEIR_PROOF") == "off":
        return None
    try:
        with open(os.path.join(folder, "weir", "owner"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def no_answer(error):
    reason = str(error) or type(error).__name__
    return (
        f"Weir does not answer, so this was stopped ({reason}). "
        "Start weir proxy, or uninstall Weir's plug-in."
    )


def call_in(call_id, name, arguments):
    call = {"tool_name": name, "tool_input": arguments}
    return {**call, "tool_use_id": call_id} if call_id else call


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value, default=str)


def keep(values, key, value):
    values.pop(key, None)
    values[key] = value
    if len(values) > KEPT_MAX:
        del values[next(iter(values))]


def answer_with(text, model, api_mode):
    """In the form that Hermes reads in this mode. None: of a mode that is not known."""
    answer = {"id": "weir", "model": model, "usage": None}
    if api_mode == "anthropic_messages":
        content = [Value(type="text", text=text)]
        return Value(**answer, role="assistant", content=content, stop_reason="end_turn")
    if api_mode == "codex_responses":
        content = [Value(type="output_text", text=text)]
        item = Value(id="msg_weir", type="message", role="assistant", status="completed", content=content)
        return Value(**answer, output=[item], output_text=text, status="completed", error=None, incomplete_details=None)
    if api_mode in ("chat_completions", "bedrock_converse"):
        message = Value(role="assistant", content=text, tool_calls=None)
        return Value(**answer, choices=[Value(index=0, finish_reason="stop", message=message)])
    return None
