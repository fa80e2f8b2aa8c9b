"""Each line is a fact about Hermes's plug-in, against a server that answers as the front of hooks."""

import importlib.util
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

PLUGIN = Path(__file__).parents[2] / "integrations" / "hermes" / "__init__.py"


spec = importlib.util.spec_from_file_location("weir_for_hermes", PLUGIN)
plugin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plugin)

ANSWERS = {}
SEEN = []
MARKS = ["weir/1"]
STATE = TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = STATE.name


class Front(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        kind = self.path.rsplit("/", 1)[1]
        SEEN.append((kind, body))
        status, text = ANSWERS.get(kind, (200, ""))
        self.send_response(status)
        self.send_header("x-weir-mark", MARKS[0])
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Front)
Thread(target=server.serve_forever, daemon=True).start()


class Context:
    """The registry of Hermes."""

    def __init__(self):
        self.hooks = {}

    def register_hook(self, name, callback):
        self.hooks[name] = callback

    register_middleware = register_hook


def hooks(command="false"):
    context = Context()
    os.environ.update(WEIR_URL=f"http://127.0.0.1:{server.server_port}", WEIR_COMMAND=command)
    plugin.register(context)
    return context.hooks


PLACE = {"session_id": "s", "turn_id": "t"}
CALL = {"tool_name": "terminal", "args": {"command": "ls"}, "tool_call_id": "c1", **PLACE}
MESSAGES = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "tool_calls": [{"id": "c9", "function": {"name": "nope", "arguments": "{"}}]},
    {"role": "tool", "tool_call_id": "c9", "content": "Unknown tool"},
]


def request(own, api_mode="chat_completions"):
    """The text of the last message that the model gets, or the answer of the plug-in in its place."""
    return text_in(own["llm_execution"](
        request={"messages": [dict(one) for one in MESSAGES]},
        next_call=lambda sent: f"the model gets: {sent['messages'][-1]['content']}",
        api_mode=api_mode,
        model="m",
        **PLACE,
    ))


def text_in(answer):
    """As the transport of Hermes for the mode reads it."""
    if isinstance(answer, str):
        return answer
    if hasattr(answer, "choices"):
        return answer.choices[0].message.content
    return (answer.output[0] if hasattr(answer, "output") else answer).content[0].text


def line(name, value):
    print(f"{name}: {json.dumps(value)}")


own = hooks()
line("no opinion", own["pre_tool_call"](**CALL))
ANSWERS["batch"] = (200, json.dumps({"hookSpecificOutput": {"additionalContext": "Try more."}}))
own["post_tool_call"](**CALL, result="hi", status="ok")
line("a result", SEEN[-1][1]["tool_calls"])
line("its advice, once", [own["transform_tool_result"](result="hi", **CALL) for _ in range(2)])
line("a refused call, in each request", [request(own) for _ in range(2)])
line("its reports", sum(kind == "batch" and "c9" in str(body) for kind, body in SEEN))
denial = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
ANSWERS["pre"] = (200, json.dumps({"hookSpecificOutput": denial}))
line("a denial", own["pre_tool_call"](**CALL))
ANSWERS["batch"] = (200, json.dumps({"continue": False, "stopReason": "Weir ended this turn"}))
own["post_tool_call"](**CALL, result="no", status="blocked")
line("a request after the end", request(own))
line("a call after the end", own["pre_tool_call"](**CALL)["message"])
for mode in ("anthropic_messages", "codex_responses", "bedrock_converse", "codex_app_server"):
    line(f"a request of {mode}", request(own, mode))
for text in ("{", "[]", "null", '{"hookSpecificOutput": 1}'):
    ANSWERS["pre"] = (200, text)
    line(f"the answer {text}", hooks()["pre_tool_call"](**CALL)["action"])
line("an event of another form", hooks()["pre_tool_call"](tool="terminal")["action"])
ANSWERS["pre"] = (200, "")
for mark in ("", "weir/2", "weir/1 0"):
    MARKS[0] = mark
    line(f"the mark {mark or 'of another server'}", hooks()["pre_tool_call"](**CALL)["action"])
MARKS[0] = "weir/1"
Path(STATE.name, "weir").mkdir()
Path(STATE.name, "weir", "owner").write_text("secret\n")
line("a mark without the proof of this user's Weir", hooks()["pre_tool_call"](**CALL)["action"])
Path(STATE.name, "weir", "owner").unlink()
ANSWERS["pre"] = (503, "")
line("status 503", hooks()["pre_tool_call"](**CALL)["message"])
server.shutdown()
server.server_close()
gone = hooks("echo 'port is taken' >&2; false")
gone["pre_llm_call"](user_message="go", **PLACE)
line("a request without a server", request(gone))
line("a call without a server", gone["pre_tool_call"](**CALL)["action"])
