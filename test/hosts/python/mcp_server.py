# A server of MCP's Python SDK, behind a pipe.
from mcp.server import MCPServer

server = MCPServer("python")


@server.tool()
def add(first: int, second: int) -> int:
    """Adds two numbers."""
    return first + second


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("no such city")


server.run("stdio")
