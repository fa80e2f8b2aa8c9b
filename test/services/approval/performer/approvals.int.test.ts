// Approval as a program uses it: real stages on a real file, a scripted model over real HTTP, and
// real processes as tools. The tools record their own starts.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  type AnthropicServer,
  startAnthropicServer,
} from '../../../../apps/demo/anthropic-server.ts'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import {
  type ApprovalSettings,
  type Turn,
  type TurnEvent,
  Weir,
  type WeirOptions,
} from '../../../../client/weir.ts'
import { approvalAnswerMs } from '../../../../services/approval/approval-round.ts'
import { until } from '../../../support/inbox.ts'
import { recordedTool, testAgent } from '../../../support/pipeline.ts'
import { call, resultsOf, says, script, text } from '../../../support/script.ts'

const agent = 'test-agent'
const log = pino({ level: 'silent' })
const rules = [{ name: 'production', tools: ['act'], pattern: { path: 'env', matches: '^prod' } }]

let folder: string
let server: AnthropicServer
let weir: Weir

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-approvals-'))
  server = await startAnthropicServer(
    script(
      says(call('act', '{"env":"prod",  "n":1}'), call('act', { env: 'test' })),
      says(text('Done.')),
    ),
  )
})

afterEach(async () => {
  await weir.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

async function open(approvals?: ApprovalSettings, bus?: WeirOptions['bus']): Promise<void> {
  const tools = (file: string) => [recordedTool({ name: 'act', schema: { type: 'object' } }, file)]
  const agents = new Map([
    [agent, testAgent(server.url, { tools, settings: {} }, join(folder, 'starts'))],
  ])
  weir = await Weir.open({
    agents,
    dataFolder: join(folder, 'data'),
    log,
    ...(approvals && { approvals }),
    ...(bus && { bus }),
  })
}

/** A turn that waits for a person, and the call's id. */
async function untilPending(message = { agent, text: 'go', conversation: 'c', messageId: 'm' }) {
  const turn = weir.ask(message)
  const events: TurnEvent[] = []
  const iterator = turn[Symbol.asyncIterator]()
  for (;;) {
    const { value, done } = await iterator.next()
    if (done === true) throw new Error(`nothing waited: ${JSON.stringify(events)}`)
    events.push(value)
    if (value.type === 'approval-pending')
      return { turn, pending: value, id: value.calls[0]?.id ?? '', rest: () => restOf(iterator) }
  }
}

async function restOf(iterator: AsyncIterator<TurnEvent>): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for (;;) {
    const { value, done } = await iterator.next()
    if (done === true) return events
    events.push(value)
  }
}

async function starts(): Promise<string[]> {
  const lines = await readFile(join(folder, 'starts'), 'utf8').catch(() => '')
  return lines
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line).arguments as string]))
}

const ended = async ({ finished }: Turn) => (await finished).outcome
const toolResults = () => resultsOf(server.requests[1]).join('\n')

describe('a call that waits for a person', () => {
  it('is listed with its exact arguments, runs after an approval, and ignores a second decision', async () => {
    await open({ rules })
    const { turn, id, pending, rest } = await untilPending()
    expect(pending.calls).toMatchObject([
      { ordinal: 0, name: 'act', rawArguments: '{"env":"prod",  "n":1}', rule: 'production' },
    ])
    expect(await weir.approvals()).toMatchObject([
      {
        id,
        conversation: 'c',
        name: 'act',
        arguments: { env: 'prod', n: 1 },
        rawArguments: '{"env":"prod",  "n":1}',
        agent,
        rule: 'production',
        until: pending.until,
      },
    ])
    expect(await starts()).toEqual([])

    const typed = id.replaceAll('-', '').toUpperCase()
    expect(await weir.allow(typed, { by: 'ann' })).toMatchObject({
      counted: true,
      outcome: 'allow',
    })
    expect(await weir.allow(id, { by: 'bob' })).toMatchObject({
      counted: false,
      text: expect.stringContaining('was allowed by ann (claimed) at'),
    })
    expect(await weir.deny(id)).toMatchObject({ counted: false, outcome: 'allow' })

    expect(await ended(turn)).toBe('answered')
    expect((await starts()).toSorted()).toEqual(['{"env":"prod",  "n":1}', '{"env":"test"}'])
    expect(await rest()).toContainEqual(
      expect.objectContaining({ type: 'approval-decided', id, outcome: 'allow', by: 'ann' }),
    )
    expect(await weir.approvals()).toEqual([])
  })

  it('does not run after a denial, and the model reads the reason', async () => {
    await open({ rules })
    const { turn, id } = await untilPending()
    expect(await weir.deny(id, { reason: 'not on a Friday' })).toMatchObject({
      counted: true,
      outcome: 'deny',
    })
    expect(await ended(turn)).toBe('answered')
    expect(toolResults()).toContain(
      'Tool call vetoed before execution: the guard "approval" says: a person rejected this call of act.',
    )
    expect(toolResults()).toContain('not on a Friday')
    expect(await starts()).toEqual(['{"env":"test"}'])
    expect(await weir.allow(id)).toMatchObject({
      counted: false,
      text: expect.stringContaining('was denied by'),
    })
  })

  it('is denied if nobody decides in time, with the text of approval, not of a silent guard', async () => {
    const clock = fakeClock(Date.now())
    await open({ rules, waitMs: 60_000 }, { kind: 'embedded', clock })
    const { turn, id } = await untilPending()
    clock.advance(60_000 - approvalAnswerMs) // its guard would be silent later
    let outcome: string | undefined
    void ended(turn).then((end) => {
      outcome = end
    })
    await until(async () => {
      clock.advance(0) // timers that were set meanwhile
      return outcome !== undefined
    })
    expect(outcome).toBe('answered')
    expect(toolResults()).toContain(
      "act needs a person's approval for these arguments, and nobody gave it in time.",
    )
    expect(await starts()).toEqual(['{"env":"test"}'])
    expect(await weir.allow(id)).toMatchObject({ counted: false, outcome: 'expired' })
  })

  it('still waits under the same id after a restart with other rules', async () => {
    await open({ rules })
    const { id } = await untilPending()
    await weir.close()
    await open({ rules: [{ name: 'nothing', tools: ['none'] }] })
    expect(await weir.approvals()).toMatchObject([{ id, rule: 'production' }])
    expect(await weir.allow(id)).toMatchObject({ counted: true })
    expect(await ended(weir.ask({ agent, text: 'go', conversation: 'c', messageId: 'm' }))).toBe(
      'answered',
    )
    expect(await starts()).toHaveLength(2)
  })

  it('is not approved by a decision on other arguments or under an unknown id', async () => {
    await open({ rules })
    const { turn, id, pending } = await untilPending()
    expect(await weir.allow(id, { hash: 'of something else' })).toMatchObject({
      counted: false,
      outcome: 'pending',
      text: expect.stringContaining('other arguments'),
    })
    await expect(weir.allow('0000-0000-0000')).rejects.toMatchObject({ code: 'approval.unknown' })
    await expect(weir.deny(id, { reason: 'x'.repeat(5_000) })).rejects.toMatchObject({
      code: 'message.invalid',
    })
    expect(await starts()).toEqual([])
    const { hash } = pending.calls[0] ?? {}
    expect(await weir.allow(id, { ...(hash && { hash }) })).toMatchObject({ counted: true })
    expect(await ended(turn)).toBe('answered')
  })

  it('has one decision if two people decide at once, and both get the same outcome', async () => {
    await open({ rules })
    const { turn, id } = await untilPending()
    const both = await Promise.all([weir.allow(id, { by: 'ann' }), weir.deny(id, { by: 'bob' })])
    expect(both.map(({ counted }) => counted).toSorted()).toEqual([false, true])
    expect(both[0]?.outcome).toBe(both[1]?.outcome)
    expect(await ended(turn)).toBe('answered')
    expect(await starts()).toHaveLength(both[0]?.outcome === 'allow' ? 2 : 1)
  })

  it('waits no longer after its turn is cancelled, and a later approval gets that outcome', async () => {
    await open({ rules })
    const { turn, id } = await untilPending()
    await turn.cancel()
    expect(await ended(turn)).toBe('cancelled')
    await until(async () => (await weir.approvals()).length === 0)
    expect(await weir.allow(id)).toMatchObject({ counted: false, outcome: 'withdrawn' })
    expect(await starts()).toEqual([])
  })
})

describe('calls that no rule names', () => {
  it('wait for nobody, like calls of tools without a rule', async () => {
    await open({ rules: [{ name: 'large', tools: ['act'], arguments: { required: ['amount'] } }] })
    const turn = weir.ask({ agent, text: 'go' })
    const types: string[] = []
    for await (const { type } of turn) types.push(type)
    expect(types).not.toContain('approval-pending')
    expect(await starts()).toHaveLength(2)
  })
})

it('another guard cannot have the name of the approval guard', async () => {
  await open()
  await weir.close()
  const judge = () => ({ state: undefined, verdicts: [] })
  const guard = {
    name: 'approval',
    version: '1',
    tools: ['*'],
    deadlineMs: 1_000,
    onTimeout: 'deny' as const,
    judge,
  }
  const options = {
    agents: weir.agents,
    dataFolder: join(folder, 'data'),
    log,
    guards: { guards: [guard] },
  }
  await expect(Weir.open(options)).rejects.toMatchObject({
    code: 'guard.invalid',
    message: expect.stringContaining("Weir's own guard"),
  })
})

describe('rules that cannot be used', () => {
  it.each<[string, ApprovalSettings, RegExp]>([
    ['none', { rules: [] }, /a list of 1 to 64/],
    ['an unknown key', { rules, waitM: 5 } as ApprovalSettings, /"waitM".*did you mean waitMs\?$/],
    [
      'an unknown key of a rule',
      { rules: [{ name: 'x', tool: ['act'] }] } as unknown as ApprovalSettings,
      /rules\[0\] cannot be used: it has "tool", .*did you mean tools\?$/,
    ],
    ['a wait without end', { rules, waitMs: 1e12 }, /its deadline is 1000000000000 ms/],
    [
      'too much text',
      { rules: [{ name: 'x'.repeat(20_000), tools: ['act'] }] },
      /at most 16384 are allowed/,
    ],
  ])('with %s keep Weir from starting, with the reason in the error', async (_, settings, why) => {
    await open()
    await weir.close()
    await expect(open(settings)).rejects.toMatchObject({
      code: 'settings.invalid',
      message: expect.stringMatching(why),
    })
  })
})
