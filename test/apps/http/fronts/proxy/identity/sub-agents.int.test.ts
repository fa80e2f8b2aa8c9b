// Equal sub-agents in parallel through the proxy with the real stages, with the headers of their hosts.

import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type Fronts, openFronts } from '../../../../../../client/guard/log/fronts.ts'
import { type Proxied, proxied } from '../proxied.ts'
import { rawAgent, rawApis, runTogether } from '../raw-agent.ts'
import { begin, piecesOf } from '../veto/answers.ts'

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
})

type Way = 'advice' | 'veto'

/** The model calls `exec` with these arguments, `rounds` times for each agent, with random call ids. */
async function opened(way: Way, args: string, rounds: number): Promise<string> {
  const log = pino({ level: 'silent' })
  fronts = await openFronts({ kind: 'memory' }, { log })
  const guard = fronts.front({ agent: 'main', mode: way === 'veto' ? 'blocking' : 'observing' })
  const veto = way === 'veto' ? { coversSubscriptions: true } : undefined
  proxy = await proxied(
    guard,
    (request, response) => {
      const body = request.body.toString()
      const done = body.match(/"(tool_result|role":"tool|function_call_output)"/g)?.length ?? 0
      const isOver = done >= rounds || /"tool_choice":("none"|\{"type":"none"\})/.test(body)
      const call = { id: `call_${randomUUID().slice(0, 8)}`, args }
      begin(request, response)
      response.end(piecesOf(request, isOver ? { text: 'Done.' } : { calls: [call] }).join(''))
    },
    '',
    veto,
  )
  return proxy.url
}

/** The headers of sub-agent `n`, as `test/hosts/RESULTS.md` has them. */
const hosts = [
  {
    host: 'Claude Code',
    api: rawApis.messages,
    headersOf: (n: number) => ({
      'user-agent': 'claude-cli/2.1.332 (external, sdk-cli)',
      'x-claude-code-session-id': 's1',
      'x-claude-code-agent-id': `a${n}`,
    }),
  },
  {
    host: 'Codex',
    api: rawApis.responses,
    headersOf: (n: number) => ({
      'x-codex-turn-metadata': JSON.stringify({
        session_id: 's1',
        thread_id: `t${n}`,
        agent_name: '/root',
        turn_id: `u${n}`,
      }),
    }),
  },
  {
    host: 'OpenCode',
    api: rawApis.chat,
    headersOf: (n: number) => ({
      'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14',
      'x-parent-session-id': 's1',
      'x-session-affinity': `c${n}`,
      'x-session-id': `c${n}`,
    }),
  },
  {
    host: 'Copilot CLI, which sends no id',
    api: rawApis.chat,
    headersOf: () => ({ 'x-initiator': 'agent', 'x-interaction-type': 'conversation-subagent' }),
  },
  { host: 'a host without headers', api: rawApis.responses, headersOf: () => ({}) },
]

describe.each(['advice', 'veto'] as const)('sub-agents through the proxy with %s', (way) => {
  it.each(hosts)('get no advice for equal honest work in parallel ($host)', async (host) => {
    const url = await opened(way, '{"cmd":"git status"}', 4)
    const agents = [1, 2, 3].map((n) => rawAgent(url, host.api, { headers: host.headersOf(n) }))
    await runTogether(agents)
    for (const agent of agents) {
      expect(agent.notes()).toEqual([])
      expect(agent.requests()).toBe(5)
      expect(agent.text()).toContain('Done.')
    }
    await proxy?.settled()
  })

  it.each(hosts)('end one by one when each of two loops ($host)', async (host) => {
    const url = await opened(way, '{}', Number.POSITIVE_INFINITY)
    const agents = [1, 2].map((n) => rawAgent(url, host.api, { headers: host.headersOf(n) }))
    await runTogether(agents)
    // Under the veto the agents see no refused call, so the first request has the end.
    for (const agent of agents) expect(agent.requests()).toBe(way === 'veto' ? 1 : 5)
    expect(proxy?.received).toHaveLength(way === 'veto' ? 8 : 10)
    await proxy?.settled()
  })
})
