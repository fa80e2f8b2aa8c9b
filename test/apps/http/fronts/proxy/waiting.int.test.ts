// An agent that waits, on raw requests through the proxy with the real stages.

import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { type Fronts, openFronts } from '../../../../../client/guard/log/fronts.ts'
import { type Proxied, proxied } from './proxied.ts'
import { rawAgent, rawApis } from './raw-agent.ts'
import { begin, piecesOf } from './veto/answers.ts'

let proxy: Proxied | undefined
let fronts: Fronts | undefined

afterEach(async () => {
  await proxy?.close()
  await fronts?.close()
})

const looks = 20

describe.each(['advice', 'veto'] as const)('an agent behind the proxy (%s)', (way) => {
  it.each(Object.entries(rawApis))(
    'waits for twenty looks, and is not ended (%s)',
    async (_, api) => {
      expect(await requestsUntilEnd(way, api, 'in_progress')).toBe(looks + 1)
    },
  )

  it.each(Object.entries(rawApis))('is stopped if the run is over (%s)', async (_, api) => {
    expect(await requestsUntilEnd(way, api, '{"status":"completed"}')).toBeLessThan(10)
  })
})

/** The model asks for the state `looks` times, and the agent reads this answer each time. */
async function requestsUntilEnd(
  way: 'advice' | 'veto',
  api: (typeof rawApis)[keyof typeof rawApis],
  result: string,
): Promise<number> {
  const log = pino({ level: 'silent' })
  fronts = await openFronts({ kind: 'memory' }, { log })
  const guard = fronts.front({ agent: 'main', mode: way === 'veto' ? 'blocking' : 'observing' })
  let asked = 0
  proxy = await proxied(
    guard,
    (request, response) => {
      asked += 1
      const isOver =
        asked > looks || /"tool_choice":("none"|\{"type":"none"\})/.test(`${request.body}`)
      const call = { id: `call_${randomUUID().slice(0, 8)}`, args: '{"cmd":"gh run view 7"}' }
      begin(request, response)
      response.end(piecesOf(request, isOver ? { text: 'Done.' } : { calls: [call] }).join(''))
    },
    '',
    way === 'veto' ? { coversSubscriptions: true } : undefined,
  )
  const agent = rawAgent(proxy.url, api, { result })
  for (let goesOn = true; goesOn && agent.requests() <= looks; ) goesOn = await agent.step()
  await proxy.settled()
  return agent.requests()
}
