// The checks between a claim and the start of a tool.

import { describe, expect, it } from '@jest/globals'
import type { Tool } from '../../../shared/agents/agents.ts'
import { type ContextOf, startChecked } from '../../../shared/tools/checked-start.ts'
import type { RunningTool, ToolCall } from '../../../shared/tools/tool.ts'
import { settled, testClock } from '../../services/executor/performer-world.ts'
import { look } from '../../services/executor/samples.ts'

const turn = { conversation: 'c', turn: 7 } as const
const endsAtOnce: RunningTool = {
  started: Promise.resolve(true),
  ended: Promise.resolve({ status: 'ok', text: 'ran', reason: '' }),
  stop: () => {},
}

function checked(fields: Partial<Tool>, contextOf?: ContextOf, text = '{"n":1}') {
  const clock = testClock()
  const starts: ToolCall[] = []
  const call: ToolCall = {
    arguments: text,
    idempotencyKey: 'key',
    timeoutMs: 1_000,
    graceMs: 100,
    clock,
  }
  const tool: Tool = { declaration: look, run: { kind: 'function', run: () => '' }, ...fields }
  const running = startChecked({
    tool,
    call,
    turn,
    contextOf,
    start(given) {
      starts.push(given)
      return endsAtOnce
    },
  })
  return { clock, starts, running }
}

const commandRun: Tool['run'] = {
  kind: 'command',
  argv: ['true'],
  environment: [],
  outputBytesMax: 1_000,
}
const moduleRun: Tool['run'] = {
  kind: 'module',
  file: '/tool.ts',
  environment: [],
  outputBytesMax: 1_000,
}

describe('a tool with checks', () => {
  it('starts at once if it has none', () => {
    expect(checked({}).starts).toHaveLength(1)
  })

  it('starts with the value of its check', async () => {
    const { starts, running } = checked({ check: () => ({ value: { n: 2 } }) })
    expect(await running.ended).toMatchObject({ text: 'ran' })
    expect(starts).toMatchObject([{ value: { n: 2 }, arguments: '{"n":1}' }])
  })

  it('never starts with a problem, and names it and the arguments', async () => {
    const { starts, running } = checked({ check: async () => ({ problems: ['n: must be even'] }) })
    expect(await running.ended).toEqual({
      status: 'denied',
      text: 'Tool call rejected before execution: n: must be even.\nYou sent: {"n":1}\nDo not retry with the same arguments. If you do not know what values\nto use, respond in text and ask the user for clarification.',
      reason: 'n: must be even',
    })
    expect(await running.started).toBe(false)
    expect(starts).toEqual([])
  })

  it.each([
    ['a function', { run: { kind: 'function', run: () => '' } }],
    ['a module', { run: moduleRun }],
    ['a command with a check', { run: commandRun, check: () => ({ value: 1 }) }],
  ] as [string, Partial<Tool>][])(
    'does not start %s with a number that JavaScript cannot hold',
    async (_, fields) => {
      const { starts, running } = checked(
        fields,
        undefined,
        '{"pay":[{"account":9007199254740993}]}',
      )
      expect(await running.ended).toMatchObject({
        status: 'denied',
        reason: expect.stringContaining(
          "the number in field 'account' cannot be passed on exactly: the tool would get 9007199254740992 for 9007199254740993",
        ),
      })
      expect(starts).toEqual([])
      for (const text of ['{"n":1e999}', '{"n":0.100000000000000005}'])
        expect((await checked(fields, undefined, text).running.ended).status).toBe('denied')
      for (const text of ['{"n":9007199254740992}', '{"n":0.1}', '{"n":1e21}', '{"n":1.50}'])
        expect((await checked(fields, undefined, text).running.ended).status).toBe('ok')
    },
  )

  it('gives a command without a check any number, because it gets the text', async () => {
    const text = '{"n":9007199254740993}'
    expect(checked({ run: commandRun }, undefined, text).starts).toMatchObject([
      { arguments: text },
    ])
  })

  it('has one full stop after a problem that is a sentence', async () => {
    const { running } = checked({ check: () => ({ problems: ['city: Name a real city.'] }) })
    const { text } = await running.ended
    expect(text.split('\n')[0]).toBe('Tool call rejected before execution: city: Name a real city.')
  })

  it('uses its own text for a refusal', async () => {
    const hints = {
      mutates: null,
      ignoreFields: [],
      loopKey: [],
      denial: '{tool}: {problems}',
      labels: [],
      client: false,
      once: null,
    }
    const { running } = checked({
      declaration: { ...look, hints },
      check: () => ({ problems: ['odd'] }),
    })
    expect(await running.ended).toMatchObject({ text: `${look.name}: odd` })
  })

  it('never starts if its check throws, and names the error in the log only', async () => {
    const { starts, running } = checked({
      check: () => {
        throw new Error('/secret/path')
      },
    })
    const { status, text, fault } = await running.ended
    expect({ status, fault }).toEqual({
      status: 'error',
      fault: expect.stringContaining('/secret/path'),
    })
    expect(text).not.toContain('/secret')
    expect(starts).toEqual([])
  })

  it('never starts if its check is slower than the timeout', async () => {
    const { clock, starts, running } = checked({ check: () => new Promise(() => {}) })
    clock.pass(1_000)
    expect(await running.ended).toMatchObject({
      status: 'error',
      reason: 'not ready within 1000 ms',
    })
    expect(starts).toEqual([])
  })

  it('runs for the rest of its timeout after a slow check', async () => {
    const slow = Promise.withResolvers<{ value: unknown }>()
    const { clock, starts } = checked({ check: () => slow.promise })
    await settled()
    clock.pass(400)
    slow.resolve({ value: 1 })
    await settled()
    expect(starts).toMatchObject([{ timeoutMs: 600 }])
  })

  it('never starts after a stop during the check', async () => {
    const slow = Promise.withResolvers<{ value: unknown }>()
    const { starts, running } = checked({ check: () => slow.promise })
    running.stop(0, 'the turn was cancelled')
    slow.resolve({ value: 1 })
    expect(await running.ended).toMatchObject({ status: 'skipped' })
    expect(starts).toEqual([])
  })
})

describe('a tool with a context', () => {
  const needsContext: Tool['needsContext'] = (value) => ({ value })

  it('gets the context of its turn', async () => {
    const { starts, running } = checked({ needsContext }, async (of) => ({ value: of.turn }))
    await running.ended
    expect(starts).toMatchObject([{ context: 7 }])
  })

  it('gets the value that the check of the context returns', async () => {
    const { starts, running } = checked(
      { needsContext: (value) => ({ value: Number(value) }) },
      () => ({ value: '7' }),
    )
    await running.ended
    expect(starts).toMatchObject([{ context: 7 }])
  })

  it('starts without one if it needs none', () => {
    expect(checked({}, () => undefined).starts).toHaveLength(1)
  })

  it.each([
    ['this process has none', () => undefined],
    ['nobody can have one', undefined],
  ])('never starts if it needs one and %s', async (_, contextOf) => {
    const { starts, running } = checked({ needsContext }, contextOf)
    expect(await running.ended).toMatchObject({
      status: 'denied',
      text: expect.stringContaining('needs the context'),
    })
    expect(starts).toEqual([])
  })

  it('never starts with an unfit one, and shows it in the log only', async () => {
    const { starts, running } = checked(
      { needsContext: () => ({ problems: ['userId: missing'] }) },
      () => ({ value: {} }),
    )
    const { status, text, fault } = await running.ended
    expect({ status, fault }).toEqual({
      status: 'denied',
      fault: expect.stringContaining('userId: missing'),
    })
    expect(text).not.toContain('userId')
    expect(starts).toEqual([])
  })

  it('never starts in another process with one that has no JSON', async () => {
    const { starts, running } = checked(
      { needsContext, run: { kind: 'module', file: '/m.mjs' } },
      () => ({ value: 1n }),
    )
    expect(await running.ended).toMatchObject({ status: 'denied' })
    expect(starts).toEqual([])
  })
})
