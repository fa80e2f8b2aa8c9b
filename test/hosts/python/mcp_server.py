# A server of MCP's Python SDK, behind a pipe.
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = MCPServer("python")


@server.tool()
def add(first: int, second: int) -> int:
    """Adds two numbers."""
    return first + second


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no such city")


@server.tool()
async def book(context: Context) -> str | InputRequiredResult:
    """Books a seat, which a person chooses."""
    answer = (context.input_responses or {}).get("seat")
    if answer is None:
        seat = {"type": "string", "enum": ["aisle", "window"]}
        schema = {"type": "object", "properties": {"seat": seat}, "required": ["seat"]}
        params = ElicitRequestFormParams(message="Which seat?", requested_schema=schema)
        return InputRequiredResult(
            input_requests={"seat": ElicitRequest(params=params)}, request_state="the flight"
        )
    return f"{answer.action} {answer.content} for {context.request_state}"


server.run("stdio")
