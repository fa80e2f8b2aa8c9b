# A client of MCP's Python SDK against the gateway: the arguments are a URL, or a command.
import asyncio
import sys

from mcp import Client, StdioServerParameters


def target():
    first, *rest = sys.argv[1:]
    return first if first.startswith("http") else StdioServerParameters(command=first, args=rest)


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def main():
    async with Client(target()) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        weather = next(name for name in names if name.endswith("weather"))
        answer = await client.call_tool(weather, {"city": "Rome"})
        assert text_of(answer) == "18 °C in Rome" and not answer.is_error, answer
        texts = [text_of(await client.call_tool(weather, {})) for _ in range(3)]
        assert "'city'" in texts[0], texts
        assert "LOOP DETECTED" in texts[2], texts
        print(f"{len(names)} tools, a result, and I1 reported by the third call")


asyncio.run(main())
