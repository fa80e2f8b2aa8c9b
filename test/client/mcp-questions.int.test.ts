// Questions of MCP servers to a person, in an agent: a real server of the SDK over a pipe, in both
// eras of the protocol, and the inbox of approvals.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  call,
  type FakeClock,
  fakeClock,
  says,
  scriptedModel,
} from '../../client/testing/testing.ts'
import { defineAgent, type TurnEvent, Weir } from '../../client/weir.ts'
import { limits } from '../../shared/contract/limits.ts'
import { serverCommand } from '../support/mcp/gateway.ts'

const log = pino({ level: 'silent' })
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-questions-'))
})

afterEach(async () => {
  delete process.env.MCP_LEGACY
  await rm(folder, { recursive: true, force: true })
})

type Pending = Extract<TurnEvent, { type: 'approval-pending' }>['calls'][number]
type Answerer = (weir: Weir, pending: Pending) => Promise<unknown>

type Played = {
  wallMs?: number
  timeoutMs?: number
  /** Default: the machine's. */
  clock?: FakeClock
  onEvent?: (event: TurnEvent) => void
}

/** The end of one call of the tool, its result for the model, and the events of approvals. */
async function played(
  tool: string | Parameters<typeof says>,
  answer: Answerer,
  { onEvent, clock, ...settings }: Played = {},
) {
  const calls = typeof tool === 'string' ? [call(`test__${tool}`, {})] : tool
  const model = scriptedModel(says(...calls), says('Done.'))
  const agent = defineAgent({
    name: 'helper',
    model,
    system: 'Help.',
    sandbox: 'off',
    mcp: {
      test: {
        command: serverCommand,
        env: process.env.MCP_LEGACY ? ['MCP_LEGACY'] : [],
        ...settings,
      },
    },
  })
  await using weir = await Weir.open({
    agents: [agent],
    dataFolder: join(folder, 'data'),
    log,
    ...(clock && { bus: { kind: 'embedded', clock } }),
  })
  const turn = weir.ask({ agent, text: 'Go.' })
  const statuses: string[] = []
  const outcomes: string[] = []
  for await (const event of turn) {
    onEvent?.(event)
    if (event.type === 'approval-pending')
      for (const pending of event.calls) await answer(weir, pending)
    if (event.type === 'approval-decided') outcomes.push(event.outcome)
    if (event.type === 'call-finished') statuses.push(event.status)
  }
  await turn.finished
  const texts = model.requests[1]?.results ?? []
  return { statuses, outcomes, texts, text: texts[0] }
}

describe.each(['2026-07-28', '2025-11-25'])('a question of a server of %s', (era) => {
  beforeEach(() => {
    if (era === '2025-11-25') process.env.MCP_LEGACY = '1'
  })

  it('waits in the inbox with the name of the server, its message and its fields', async () => {
    const listed: unknown[] = []
    await played('ask', async (weir, { id }) => {
      listed.push(...(await weir.approvals()))
      await weir.deny(id)
    })
    expect(listed).toMatchObject([
      {
        name: 'test__ask',
        rule: expect.stringContaining('the server test asks: Which seat?'),
        question: {
          server: 'test',
          mode: 'form',
          schema: { properties: { seat: { enum: ['aisle', 'window'] } } },
        },
      },
    ])
  })

  it('gets the values of a person with the defaults of its schema, and goes on', async () => {
    const { text, statuses, outcomes } = await played('ask', (weir, { id, hash }) =>
      weir.allow(id, { by: 'ada', hash, values: '{"seat":"aisle"}' }),
    )
    expect(statuses).toEqual(['ok'])
    expect(outcomes).toEqual(['allow'])
    expect(text).toContain('"action":"accept"')
    expect(text).toContain('"content":{"meals":1,"seat":"aisle"}')
  })

  it('is declined by a denial', async () => {
    const { text, outcomes } = await played('ask', (weir, { id }) => weir.deny(id))
    expect(text).toBe('answered {"action":"decline"}')
    expect(outcomes).toEqual(['deny'])
  })

  it('is cancelled if nobody answers, before the call ends', async () => {
    const clock = fakeClock(Date.now())
    const { text, statuses } = await played('ask', async () => clock.advance(3_000), {
      wallMs: 4_000, // the last quarter is the server's
      timeoutMs: 1_000,
      clock,
    })
    expect(text).toBe('answered {"action":"cancel"}')
    expect(statuses).toEqual(['ok'])
  })

  it('stays open after values that do not fit', async () => {
    const faults: string[] = []
    const { text } = await played('ask', async (weir, { id }) => {
      for (const values of [undefined, 'no', '{"seat":"roof"}', '{"seat":"aisle","x":1}'])
        await weir
          .allow(id, values === undefined ? {} : { values })
          .catch(({ code, message }) => faults.push(`${code} ${message.split(': ')[1]}`))
      await weir.allow(id, { values: '{"seat":"window","meals":0}' })
    })
    expect(faults).toEqual([
      "message.invalid must have required property 'seat'.",
      'message.invalid the values are no JSON object',
      'message.invalid seat must be equal to one of the allowed values.',
      'message.invalid there is no field "x"',
    ])
    expect(text).toContain('"seat":"window"')
  })

  it('about a page shows its address, and passes on no value', async () => {
    const { text } = await played('page', async (weir, { id }) => {
      const [waiting] = await weir.approvals()
      expect(waiting?.question).toMatchObject({ mode: 'url', url: 'https://bank.example/in' })
      await expect(weir.allow(id, { values: '{"pin":1}' })).rejects.toThrow('a page')
      await weir.allow(id)
    })
    expect(text).toBe('answered {"action":"accept"}')
  })

  it('may come again and again up to a limit, and the call then ends', async () => {
    let asked = 0
    const { text, statuses } = await played('insist', (weir, { id }) => {
      asked += 1
      return weir.deny(id)
    })
    expect(statuses).toEqual(['error'])
    expect(text).toMatch(/more questions|rounds|input/i)
    expect(asked).toBeLessThanOrEqual(limits.inputsOfTryMax)
  })

  it('to the model instead of a person is declined, and the call reports it', async () => {
    const { text, statuses } = await played('sample', async () => {})
    expect(statuses).toEqual(['error'])
    expect(text).toMatch(/sampling/i)
  })
})

describe('a question that names no call, of a server of 2025-11-25', () => {
  it('is cancelled while another call of the server runs', async () => {
    process.env.MCP_LEGACY = '1'
    const hang = call('test__hang', {})
    const clock = fakeClock(Date.now())
    const { texts } = await played([hang, call('test__ask', {})], async () => {}, {
      timeoutMs: 1_500,
      wallMs: 10_000,
      clock,
      // The other call ends later than the question.
      onEvent: ({ type }) => {
        if (type === 'call-finished') clock.advance(1_500)
      },
    })
    expect(texts).toContain('answered {"action":"cancel"}')
  })
})
