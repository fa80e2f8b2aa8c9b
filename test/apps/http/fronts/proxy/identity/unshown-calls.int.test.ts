// Agents whose requests do not show the calls of earlier answers, through the proxy with the real stages.

import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { unshownAnswersMax } from '../../../../../../apps/http/fronts/proxy/identity/guest-sessions.ts'
import { type Fronts, openFronts } from '../../../../../../client/guard/log/fronts.ts'
import { scriptedGuard } from '../../../scripted-guard.ts'
import { growingAgent } from '../growing-agent.ts'
import { loopingModel } from '../looping-model.ts'
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

async function opened(
  way: Way,
  respond: Parameters<typeof proxied>[1] = loopingModel({ isStubborn: true }),
): Promise<Proxied> {
  const log = pino({ level: 'silent' })
  fronts = await openFronts({ kind: 'memory' }, { log })
  const guard = fronts.front({ agent: 'main', mode: way === 'veto' ? 'blocking' : 'observing' })
  const veto = way === 'veto' ? { coversSubscriptions: true } : undefined
  proxy = await proxied(guard, respond, '', veto)
  return proxy
}

/** Good calls with random ids, for ever. */
const working: Parameters<typeof proxied>[1] = (request, response, n) => {
  const call = { id: `call_${randomUUID().slice(0, 8)}`, args: `{"cmd":"look ${n}"}` }
  begin(request, response)
  response.end(piecesOf(request, { calls: [call] }).join(''))
}

function warnings(): unknown[] {
  return (proxy?.logged() ?? '')
    .split('\n')
    .filter((line) => line.includes('x-weir-conversation'))
    .map((line) => JSON.parse(line) as unknown)
}

describe('an agent that adds its failures to the text of its user', () => {
  it('is reported once on the log after ten answers, with the header to send', async () => {
    const { url, settled, received } = await opened('advice')
    const { notes } = await growingAgent(url, { requests: 9 })
    await settled()
    expect(warnings()).toEqual([])
    await growingAgent(url, { requests: 25 })
    await growingAgent(url, { requests: 25 })
    await settled()
    expect(warnings()).toMatchObject([{ level: 40, agent: 'main', answers: 10 }])
    expect(new Set(notes)).toEqual(new Set([null])) // nothing merges its requests
    expect(received).toHaveLength(59)
  })

  it('is reported once for each guest and each key, and the log has no key', async () => {
    const { url, settled, logged } = await opened('advice')
    const key = 'Bearer sk-another-key'
    await growingAgent(url, { requests: 12 })
    await growingAgent(url, { requests: 12, headers: { authorization: key } })
    await growingAgent(`${url}/proxy/other`, { requests: 12 })
    await settled()
    expect(warnings()).toMatchObject([{ agent: 'main' }, { agent: 'main' }, { agent: 'other' }])
    expect(logged()).not.toContain('sk-another-key')
  })

  it.each(['advice', 'veto'] as const)(
    'is reported once also if its calls run, and gets no advice (%s)',
    async (way) => {
      const { url, settled } = await opened(way, working)
      const { notes } = await growingAgent(url, { requests: 25 })
      await settled()
      expect(warnings()).toHaveLength(1)
      expect(new Set(notes)).toEqual(new Set([null]))
    },
  )

  it('is reported also if it gets answers without a call in between', async () => {
    const { url, settled } = await opened('advice', (request, response, n) => {
      const calls = n % 2 === 0 ? [{ id: `call_${n}`, args: '{}' }] : []
      begin(request, response)
      response.end(piecesOf(request, { calls }).join(''))
    })
    await growingAgent(url, { requests: 25 })
    await settled()
    expect(warnings()).toHaveLength(1)
  })

  it('gets advice and an end under the header x-weir-conversation', async () => {
    const { url, settled, received } = await opened('advice')
    const headers = { 'x-weir-conversation': 'run-1' }
    const { notes } = await growingAgent(url, { requests: 8, headers })
    await settled()
    const actions = notes.filter((note) => note !== null).map((note) => note.split(';')[0])
    expect(actions.slice(0, 3)).toEqual(['nudge', 'text_only', 'ended'])
    expect(received.length).toBeLessThan(8)
    expect(warnings()).toEqual([])
  })

  it('does not multiply the repeats of the veto', async () => {
    const { url, settled, received } = await opened('veto')
    const run = growingAgent(url, { requests: 40 })
    await expect(run).rejects.toThrow(/guest.over.*missing required field|missing.*guest.over/)
    await settled()
    // 4 for the first request, 2 for the second, 1 for each of the next three.
    expect(received).toHaveLength(9)
  })

  it('reaches the model less and less if it goes on after the error of the veto', async () => {
    const { url, settled, received } = await opened('veto')
    await growingAgent(url, { requests: 40, isStubborn: true })
    await settled()
    expect(received).toHaveLength(12) // 9, and then the requests 9, 17 and 33
    expect(warnings()).toMatchObject([{ level: 40, agent: 'main' }])
  })
})

it('the veto shows each request to the model if the client may take a text', async () => {
  const { url, settled, received } = await opened('veto')
  await growingAgent(url, { requests: 12, choice: 'auto' })
  await settled()
  expect(received).toHaveLength(16)
})

it('a client that requires calls gets all again after an answer that runs', async () => {
  const script = [...new Array(10).fill('{}'), '{"cmd":"ls"}']
  const { url, received, settled } = await opened('veto', (request, response, n) => {
    begin(request, response)
    const call = { id: `call_${n}`, args: script[n - 1] ?? '{}' }
    response.end(piecesOf(request, { calls: [call] }).join(''))
  })
  // The 17th request reaches the model for the eleventh time, and its call runs.
  const { notes } = await growingAgent(url, { requests: 18, isStubborn: true })
  await settled()
  expect(notes[16]).toBeNull()
  expect(received).toHaveLength(15)
})

it('the veto repeats a request in full again after a call that ran', async () => {
  const bad = { calls: [{ id: 'c', args: '{}' }] }
  let id = 0
  const script = [...new Array(5).fill(bad), { calls: [{ id: 'good', args: '{"cmd":"ls"}' }] }]
  const { url, received, settled } = await opened('veto', (request, response, n) => {
    id += 1
    const { calls } = script[n - 1] ?? bad
    const own = calls.map((call: { args: string }) => ({ ...call, id: `call_${id}` }))
    begin(request, response)
    response.end(piecesOf(request, { calls: own }).join(''))
  })
  await growingAgent(url, { requests: 2 })
  expect(received).toHaveLength(6)
  await growingAgent(url, { requests: 1, task: 'Another task.' })
  await settled()
  expect(received).toHaveLength(10)
})

describe('an agent with a window over its history', () => {
  it.each([
    ['Chat Completions', rawApis.chat, 6],
    ['Messages', rawApis.messages, 6],
    ['Responses', rawApis.responses, 6],
  ])('is reported once if it sends no header (%s)', async (_, api, window) => {
    const { url, settled } = await opened('advice', working)
    await runTogether([rawAgent(url, api, { window })], 25)
    await settled()
    expect(warnings()).toHaveLength(1)
  })

  it('is not reported under the header x-weir-conversation', async () => {
    const { url, settled } = await opened('advice', working)
    const headers = { 'x-weir-conversation': 'run-1' }
    await runTogether([rawAgent(url, rawApis.chat, { window: 6, headers })], 25)
    await settled()
    expect(warnings()).toEqual([])
  })
})

describe('a client is not reported', () => {
  it('if its requests show all calls', async () => {
    const { url, settled } = await opened('advice', working)
    await runTogether([rawAgent(url, rawApis.chat), rawAgent(url, rawApis.chat)], 15)
    await settled()
    expect(warnings()).toEqual([])
  })

  it('if it makes many requests of one answer each, also with one text', async () => {
    const { url, settled } = await opened('advice', working)
    for (let n = 0; n < 15; n += 1) {
      await growingAgent(url, { requests: 1 })
      await growingAgent(url, { requests: 1, task: `Classify text ${n}.` })
    }
    await settled()
    expect(warnings()).toEqual([])
    expect(unshownAnswersMax).toBeLessThan(15)
  })
})

it.each([
  { name: 'authorization', keys: ['Bearer one', 'Bearer two'] },
  { name: 'api-key', keys: ['one', 'two'] },
])(
  'two clients with one first text and fixed call ids are two conversations ($name)',
  async ({ name, keys }) => {
    const guard = scriptedGuard()
    proxy = await proxied(guard, (request, response) => {
      begin(request, response)
      response.end(piecesOf(request, { calls: [{ id: 'call_1', args: '{"cmd":"ls"}' }] }).join(''))
    })
    const { url, settled } = proxy
    const agents = keys.map((key) =>
      rawAgent(url, rawApis.chat, { headers: { authorization: '', [name]: key } }),
    )
    for (const agent of [...agents, ...agents]) {
      await agent.step()
      await settled()
    }
    const [one, two, ...later] = guard.asked.map(({ id }) => id)
    expect(one).not.toBe(two)
    expect(later).toEqual([one, one, two, two])
  },
)
