// The client under test as the conformance suite starts it. It only passes the scenario on: the client
// runs in the process of the test, because the suite starts all scenarios at once.

const { WEIR_CONFORMANCE_CLIENT, MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT } = process.env
const answer = await fetch(WEIR_CONFORMANCE_CLIENT, {
  method: 'POST',
  body: JSON.stringify({
    url: process.argv.at(-1),
    scenario: MCP_CONFORMANCE_SCENARIO,
    context: JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}'),
  }),
})
console.log(await answer.text())
process.exitCode = answer.ok ? 0 : 1
