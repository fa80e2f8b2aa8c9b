import { describe, expect, it } from '@jest/globals'
import { startExecutor } from '../../../../services/executor/performer/performer.ts'
import { toolStartedHoldMs } from '../../../../services/executor/performer/tool-runs.ts'
import type { Agents, Tool } from '../../../../shared/agents/agents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Message, Outcome, RoundExecuted } from '../../../../shared/contract/messages.ts'
import { createSlots } from '../../../../shared/lib/slots.ts'
import { resultWith } from '../../../support/messages.ts'
import { agents, fakeTools, inbox, settled, testClock } from '../performer-world.ts'
import {
  callOf,
  cancel,
  claim,
  claimMs,
  mail,
  ok,
  outcome,
  place,
  policy,
  roundCleared,
  tick,
  turnEnded,
  unit,
} from '../samples.ts'

type Options = { places?: number; startable?: boolean; mailsMax?: number }

/** `mailsMax`: the concurrency of the tool `mail`. */
function world({ places = limits.runningToolsMax, startable = true, mailsMax }: Options = {}) {
  const clock = testClock()
  const tools = fakeTools({ startable })
  const slots = createSlots(places)
  return {
    clock,
    tools,
    ...inbox(clock),
    start: startExecutor({ agents: withConcurrency(mailsMax), run: tools.run, slots }),
  }
}

function withConcurrency(mailsMax: number | undefined): Agents {
  const limited = (tool: Tool) =>
    tool.declaration.name === mail.name ? { ...tool, concurrency: mailsMax } : tool
  return new Map(
    [...agents].map(([name, agent]) => [name, { ...agent, tools: agent.tools.map(limited) }]),
  )
}

const twoCalls = roundCleared({ calls: [callOf(0), callOf(1)] })

function typesOf(messages: Message[]): string[] {
  return messages.map(({ type }) => type)
}

function outcomesOf(messages: Message[]): Outcome[] {
  return messages.filter((message) => message.type === 'outcome')
}

function resultsIn(messages: Message[]): string[][] {
  return messages.flatMap((message) =>
    message.type === 'round-executed' ? [message.results.map(({ status }) => status)] : [],
  )
}

describe('a ready call', () => {
  it('is claimed, started, announced and reported', async () => {
    const { append, own, start, tools, clock, outputs } = world()
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    expect(tools.started).toMatchObject([
      {
        call: {
          arguments: '{"n":0}',
          idempotencyKey: '["c",7,1,0]',
          timeoutMs: mail.timeoutMs,
          graceMs: policy.graceMs,
        },
      },
    ])
    clock.pass(1234.4)
    await tools.started[0]!.end()
    expect(owner.written).toEqual([
      { ...claim('a') },
      { type: 'tool-started', ...place, round: 1, ordinal: 0, try: 1, name: 'mail' },
      outcome('a', ok('done', { durationMs: 1234 })),
    ])
    expect(resultsIn(outputs)).toEqual([['ok']])
  })

  it('is claimed together with its siblings in one write', async () => {
    const { append, own, start } = world()
    const writes: string[][] = []
    own('a', start, { write: async (messages) => void writes.push(typesOf(messages)) })
    append(twoCalls)
    await settled()
    expect(writes[0]).toEqual(['claim', 'claim'])
  })

  it('is announced a moment after its start, or at once with its end', async () => {
    const { append, own, start, tools, clock } = world()
    const owner = own('a', start)
    append(twoCalls)
    await settled()
    await tools.started[0]!.end()
    expect(typesOf(owner.written)).toEqual(['claim', 'claim', 'tool-started', 'outcome'])
    clock.pass(toolStartedHoldMs)
    await settled()
    expect(typesOf(owner.written).slice(4)).toEqual(['tool-started'])
    await tools.started[1]!.end()
    expect(typesOf(owner.written).slice(5)).toEqual(['outcome'])
  })

  it('is claimed and started once, for any number of reconciles', async () => {
    const { append, own, start, tools, tasksOf } = world()
    const owner = own('a', start)
    append(roundCleared())
    owner.reconcile(unit, tasksOf(unit))
    await settled()
    owner.reconcile(unit, tasksOf(unit))
    owner.reconcile(unit, tasksOf(unit))
    await tools.started[0]!.end()
    expect(tools.started).toHaveLength(1)
    expect(typesOf(owner.written)).toEqual(['claim', 'tool-started', 'outcome'])
  })

  it('has a result within its bounds', async () => {
    const { append, own, start, tools } = world()
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    await tools.started[0]!.end({ text: 'x'.repeat(2 * limits.resultBytesMax) })
    expect(Buffer.byteLength(outcomesOf(owner.written)[0]!.result!.text)).toBe(
      limits.resultBytesMax,
    )
  })

  it('is claimed again for a further try, with the same key', async () => {
    const { append, own, start, tools, clock } = world()
    own('gone', start).pause()
    append(roundCleared({ calls: [callOf(0, { name: 'look' })] }))
    append(claim('gone'))
    const owner = own('b', start)
    clock.pass(claimMs)
    append(tick)
    await settled()
    expect(owner.written[0]).toEqual(claim('b', { try: 2 }))
    expect(tools.started).toMatchObject([{ call: { idempotencyKey: '["c",7,1,0]' } }])
  })
})

describe('a claim that must not start its tool', () => {
  it('belongs to another owner', async () => {
    const { append, own, start, tools } = world()
    const owner = own('a', start)
    owner.pause()
    append(roundCleared())
    append(claim('b'))
    owner.wake()
    await settled()
    expect([owner.written, tools.started]).toEqual([[], []])
  })

  it('names this owner, which does not remember it', async () => {
    const { append, own, start, tools } = world()
    const owner = own('a', start)
    owner.pause()
    append(roundCleared())
    append(claim('a'))
    owner.wake()
    append(cancel)
    await settled()
    expect([owner.written, tools.started]).toEqual([[], []])
  })

  it.each([
    [
      'the process was paused',
      (clock: ReturnType<typeof testClock>) => clock.pass(policy.startWithinMs),
    ],
    [
      'the machine slept',
      (clock: ReturnType<typeof testClock>) => clock.sleep(policy.startWithinMs),
    ],
    [
      'the process was paused and the wall clock set back',
      (clock: ReturnType<typeof testClock>) => {
        clock.pass(policy.startWithinMs)
        clock.sleep(-5_000)
      },
    ],
    ['the wall clock was set back', (clock: ReturnType<typeof testClock>) => clock.sleep(-1)],
  ])('is too old, starts nothing late: %s', async (_, meanwhile) => {
    const { append, own, start, tools, clock } = world()
    const owner = own('a', start, {
      write: async (messages) => {
        if (messages[0]?.type === 'claim' && messages[0].try === 1) meanwhile(clock)
      },
    })
    append(roundCleared())
    await settled()
    expect(owner.written.slice(0, 3)).toEqual([
      claim('a'),
      outcome('a', null),
      claim('a', { try: 2 }),
    ])
    expect(tools.started).toHaveLength(1)
  })

  it('is just young enough one millisecond before', async () => {
    const { append, own, start, tools, clock } = world()
    own('a', start, { write: async () => clock.pass(policy.startWithinMs - 1) })
    append(roundCleared())
    await settled()
    expect(tools.started).toHaveLength(1)
  })

  it('is cancelled: it is given back, and the call was skipped', async () => {
    const { append, own, start, tools, outputs } = world()
    const owner = own('a', start)
    owner.pause()
    append(roundCleared())
    owner.wake() // the claim is read while it sleeps again
    owner.pause()
    await settled()
    append(cancel)
    owner.wake()
    await settled()
    expect(owner.written).toEqual([claim('a'), outcome('a', null)])
    expect(tools.started).toEqual([])
    expect(resultsIn(outputs)).toEqual([['skipped']])
  })

  it('belongs to a zombie that wakes an hour later: the next owner has ended the call', async () => {
    const { append, own, start, tools, clock, outputs } = world()
    const zombie = own('zombie', start)
    append(roundCleared())
    zombie.pause() // before it reads that its claim was accepted
    await settled()
    own('next', start)
    clock.pass(3_600_000)
    append(tick)
    zombie.wake()
    await settled()
    expect(tools.started).toEqual([])
    expect(resultsIn(outputs)).toEqual([['unknown']])
  })

  it('belongs to a zombie that wakes in time for its state, but not by the clock', async () => {
    const { append, own, start, tools, clock, tasksOf } = world()
    const zombie = own('zombie', start)
    append(roundCleared())
    zombie.pause()
    await settled()
    const whatItKnows = tasksOf(unit)
    clock.pass(3_600_000)
    append(tick)
    zombie.reconcile(unit, whatItKnows)
    await settled()
    expect(tools.started).toEqual([])
    expect(zombie.written).toEqual([claim('zombie'), outcome('zombie', null)])
  })
})

describe('another owner that is dead', () => {
  it('is reported once for each of its claims, if the bus proves it', async () => {
    const { append, own, start, outputs, tasksOf } = world()
    append(twoCalls)
    append(claim('dead'))
    const tasks = tasksOf(unit)
    const owner = own('a', start, { formerOwnersDead: true })
    owner.reconcile(unit, tasks)
    await settled()
    expect(typesOf(owner.written).filter((type) => type === 'lapsed')).toHaveLength(1)
    expect(owner.written.find(({ type }) => type === 'lapsed')).toMatchObject({
      ordinal: 0,
      try: 1,
      owner: 'dead',
    })
    expect(outputs).toMatchObject([{ type: 'call-finished', ordinal: 0, status: 'unknown' }])
  })

  it('is not reported without proof', async () => {
    const { append, own, start } = world()
    append(roundCleared())
    append(claim('perhaps dead'))
    const owner = own('a', start)
    await settled()
    expect(owner.written).toEqual([])
  })
})

describe('a running tool', () => {
  it('is stopped once when its call is cancelled, and its outcome is reported', async () => {
    const { append, own, start, tools, outputs, tasksOf } = world()
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    append(cancel)
    owner.reconcile(unit, tasksOf(unit))
    expect(tools.started[0]!.stops).toEqual([
      { graceMs: policy.graceMs, why: 'the turn was cancelled' },
    ])
    await tools.started[0]!.end({ status: 'unknown', text: 'stopped', reason: 'stopped' })
    expect(resultsIn(outputs)).toEqual([['unknown']])
  })

  it('is stopped when its turn is over', async () => {
    const { append, own, start, tools } = world()
    own('a', start)
    append(roundCleared())
    await settled()
    append(turnEnded)
    expect(tools.started[0]!.stops).toEqual([{ graceMs: policy.graceMs, why: 'its turn is over' }])
  })

  it('is stopped when its deadline has passed, and its late outcome starts nothing', async () => {
    const { append, own, start, tools, clock, outputs } = world()
    own('a', start)
    append(roundCleared())
    await settled()
    clock.pass(claimMs)
    append(tick)
    expect(tools.started[0]!.stops).toHaveLength(1)
    await tools.started[0]!.end()
    expect(resultsIn(outputs)).toEqual([['unknown']])
    expect(tools.started).toHaveLength(1)
  })

  it('is left alone once it has ended', async () => {
    const { append, own, start, tools } = world()
    own('a', start)
    append(twoCalls)
    await settled()
    await tools.started[0]!.end()
    append(cancel)
    expect(tools.started.map(({ stops }) => stops.length)).toEqual([0, 1])
  })
})

describe('a tool that cannot be started', () => {
  it('is not announced, and its duration is 0', async () => {
    const { append, own, start, tools, clock } = world({ startable: false })
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    clock.pass(50)
    await tools.started[0]!.end({
      status: 'error',
      text: 'not found',
      reason: 'not found',
      fault: 'cannot start /secret/program',
    })
    expect(typesOf(owner.written)).toEqual(['claim', 'outcome'])
    expect(outcomesOf(owner.written)[0]!.result).toEqual(
      resultWith({ status: 'error', text: 'not found', reason: 'not found', durationMs: 0 }),
    )
    expect(owner.lines.join()).toContain('cannot start /secret/program')
    expect(JSON.stringify(owner.written)).not.toContain('secret')
  })

  it('has its printed output in the debug log, and nowhere else', async () => {
    const { append, own, start, tools } = world()
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    await tools.started[0]!.end({ printed: 'only for the log' })
    expect(owner.lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 20, ...place, round: 1, ordinal: 0, printed: 'only for the log' },
    ])
    expect(JSON.stringify(owner.written)).not.toContain('only for the log')
  })

  it('does not affect other tools, even if starting it throws', async () => {
    const { append, own } = world()
    const owner = own(
      'a',
      startExecutor({
        agents,
        run: () => {
          throw new Error('out of luck')
        },
      }),
    )
    append(roundCleared())
    await settled()
    expect(outcomesOf(owner.written)).toMatchObject([
      { result: { status: 'error', reason: 'could not be started' } },
    ])
    expect(owner.lines.join()).toContain('out of luck')
  })

  it.each([
    ['an agent that it does not have', { agent: 'other' }],
    [
      'a declaration that was changed since',
      { declarations: [{ ...mail, description: 'Sends two messages.' }] },
    ],
    [
      'a tool that it does not have',
      { calls: [callOf(0, { name: 'x' })], declarations: [{ ...mail, name: 'x' }] },
    ],
  ])('is rejected: %s', async (_, fields) => {
    const { append, own, start, tools, outputs } = world({ places: 1 })
    own('a', start)
    append(roundCleared(fields))
    await settled()
    expect(tools.started).toEqual([])
    append(roundCleared({ turn: 8 }))
    await settled()
    expect(tools.started).toHaveLength(1)
    const executed = outputs.find(({ type }) => type === 'round-executed') as RoundExecuted
    expect(executed.results).toEqual([
      resultWith({
        status: 'denied',
        durationMs: 0,
        reason: 'no tool with this declaration',
        text:
          'Tool call rejected before execution: the executor has no tool with this declaration. ' +
          'Do not retry it; continue without this tool, or tell the user.',
      }),
    ])
  })
})

describe('the places of a process', () => {
  it('bound the claims; the next call is claimed when a tool has ended', async () => {
    const { append, own, start, tools } = world({ places: 2 })
    const owner = own('a', start)
    append(roundCleared({ calls: [callOf(0), callOf(1), callOf(2)] }))
    await settled()
    expect(typesOf(owner.written).filter((type) => type === 'claim')).toHaveLength(2)
    await tools.started[1]!.end()
    await settled()
    expect(tools.started.map(({ call }) => call.arguments)).toEqual([
      '{"n":0}',
      '{"n":1}',
      '{"n":2}',
    ])
  })

  it('are shared by its partitions, and by turns in rotation', async () => {
    const { tools, clock, start, append, own } = world({ places: 1 })
    own('a', start)
    const other = inbox(clock)
    other.own('b', start)
    append(roundCleared({ calls: [callOf(0), callOf(1), callOf(2)] }))
    other.append(roundCleared({ turn: 8, calls: [callOf(3), callOf(4)] }))
    for (let ended = 0; ended < 5; ended += 1) {
      await settled()
      expect(tools.started).toHaveLength(ended + 1)
      await tools.started[ended]!.end()
    }
    expect(tools.started.map(({ call }) => call.arguments)).toEqual([
      '{"n":0}',
      '{"n":1}',
      '{"n":3}',
      '{"n":2}',
      '{"n":4}',
    ])
  })

  it('go to tenants in turn, so one with many turns delays no other', async () => {
    const { append, own, start, tools } = world({ places: 1 })
    own('a', start)
    for (const conversation of ['acme:1', 'acme:2', 'acme:3', 'other:1'])
      append(roundCleared({ conversation }))
    for (let ended = 0; ended < 4; ended += 1) {
      await settled()
      await tools.started[ended]!.end()
    }
    expect(tools.started.map(({ call }) => JSON.parse(call.idempotencyKey)[0])).toEqual([
      'acme:1',
      'acme:2',
      'other:1',
      'acme:3',
    ])
  })

  it('go to the next waiter when a call is dropped in the moment that it gets one', async () => {
    const { append, own, start, tools } = world({ places: 1 })
    const owner = own('a', start)
    append(twoCalls) // the claim of the first is on its way, the second waits
    owner.pause()
    append(claim('b'))
    append(claim('b', { ordinal: 1 }))
    append(roundCleared({ turn: 8 }))
    owner.wake()
    await settled()
    expect(owner.written).toMatchObject([claim('a', { ordinal: 0 }), claim('a', { turn: 8 })])
    expect(tools.started).toHaveLength(1)
  })

  it('come back when another owner wins, a call vanishes, or it is given back', async () => {
    const { append, own, start, tools, clock } = world({ places: 1 })
    let isLate = true
    const owner = own('a', start, {
      write: async (messages) => {
        if (isLate && messages[0]?.type === 'claim') clock.pass(policy.startWithinMs)
      },
    })
    owner.pause()
    append(roundCleared({ turn: 1 }))
    append(roundCleared({ turn: 2 }))
    append(roundCleared({ turn: 3 }))
    owner.wake()
    append(claim('other owner', { turn: 1 }))
    append({ ...cancel, turn: 2 })
    isLate = false
    append(roundCleared({ turn: 4 }))
    await settled()
    await settled()
    expect(tools.started.map(({ call }) => call.idempotencyKey)).toEqual(['["c",4,1,0]'])
  })

  it('are not used for a call that was cancelled while it waited', async () => {
    const { append, own, start, tools } = world({ places: 1 })
    const owner = own('a', start)
    append(twoCalls)
    await settled()
    append(cancel)
    await tools.started[0]!.end()
    await settled()
    expect(owner.written.filter(({ type }) => type === 'claim')).toHaveLength(1)
    append(roundCleared({ turn: 8 }))
    await settled()
    expect(tools.started).toHaveLength(2)
  })
})

describe('a tool with a concurrency', () => {
  const twoMailsAndALook = roundCleared({
    calls: [callOf(0), callOf(1), callOf(2, { name: 'look' })],
  })

  it('runs that many of its calls at once, and holds up no other tool', async () => {
    const { append, own, start, tools } = world({ mailsMax: 1 })
    const owner = own('a', start)
    append(twoMailsAndALook)
    await settled()
    expect(typesOf(owner.written).filter((type) => type === 'claim')).toHaveLength(2)
    expect(tools.started.map(({ call }) => call.arguments)).toEqual(['{"n":0}', '{"n":2}'])
    await tools.started[1]!.end()
    await settled()
    expect(tools.started).toHaveLength(2)
    await tools.started[0]!.end()
    await settled()
    expect(tools.started.map(({ call }) => call.arguments)).toEqual([
      '{"n":0}',
      '{"n":2}',
      '{"n":1}',
    ])
  })

  it('shares it across all partitions of a process', async () => {
    const { append, own, start, tools, clock } = world({ mailsMax: 1 })
    own('a', start)
    const other = inbox(clock)
    other.own('b', start)
    append(roundCleared())
    other.append(roundCleared({ turn: 8 }))
    await settled()
    expect(tools.started).toHaveLength(1)
    await tools.started[0]!.end()
    await settled()
    expect(tools.started).toHaveLength(2)
  })

  it('gets its place back from a call that was cancelled while it waited for a process place', async () => {
    const { append, own, start, tools } = world({ places: 1, mailsMax: 1 })
    own('a', start)
    append(roundCleared({ calls: [callOf(0, { name: 'look' })] }))
    append(roundCleared({ turn: 8 })) // holds the only place for mails, and waits
    append(roundCleared({ turn: 9 }))
    await settled()
    append({ ...cancel, turn: 8 })
    await tools.started[0]!.end()
    await settled()
    expect(tools.started.map(({ call }) => call.idempotencyKey)).toEqual([
      '["c",7,1,0]',
      '["c",9,1,0]',
    ])
  })
})

describe('a write that the bus refuses', () => {
  const refuse = (type: string) => async (messages: Message[]) => {
    if (messages[0]?.type === type) throw new Error('the bus gave up')
  }

  it('ends all further claims and starts, logs the refusal, and frees the places', async () => {
    const { append, own, start, tools } = world({ places: 1 })
    const owner = own('a', start, { write: refuse('claim') })
    append(twoCalls)
    await settled()
    append(roundCleared({ turn: 8 }))
    await settled()
    expect([owner.written, tools.started]).toEqual([[], []])
    expect(owner.lines.join()).toContain('the bus gave up')
    const healthy = inbox(testClock())
    healthy.own('b', start)
    healthy.append(roundCleared())
    await settled()
    expect(tools.started).toHaveLength(1)
    await owner.close('lost')
  })

  it('does not affect running tools: their outcomes are still written', async () => {
    const { append, own, start, tools, clock } = world()
    const owner = own('a', start, { write: refuse('tool-started') })
    append(roundCleared())
    await settled()
    clock.pass(toolStartedHoldMs)
    await settled()
    append(roundCleared({ turn: 8 }))
    await settled()
    await tools.started[0]!.end()
    expect(typesOf(owner.written)).toEqual(['claim', 'outcome'])
  })

  it('of an outcome leaves the call to its deadline', async () => {
    const { append, own, start, tools, clock, outputs } = world()
    const owner = own('a', start, { write: refuse('outcome') })
    append(roundCleared())
    await settled()
    await tools.started[0]!.end({ text: 'private result' })
    expect(owner.lines.join()).not.toContain('private result')
    clock.pass(claimMs)
    append(tick)
    expect(resultsIn(outputs)).toEqual([['unknown']])
  })

  it('may even throw', async () => {
    const { own, append, start } = world()
    const owner = own('a', start, {
      write: () => {
        throw new Error('at once')
      },
    })
    append(roundCleared())
    await settled()
    expect(owner.lines.join()).toContain('at once')
  })
})

describe('shutdown', () => {
  it('gives back claims without a start, after their write', async () => {
    const { append, own, start, tools, outputs, tasksOf } = world()
    const acknowledge = Promise.withResolvers<void>()
    const owner = own('a', start, {
      write: (messages) =>
        messages[0]?.type === 'claim' ? acknowledge.promise : Promise.resolve(),
    })
    append(roundCleared())
    const over = owner.close('shutdown')
    await settled()
    expect(owner.written).toEqual([])
    acknowledge.resolve()
    await over
    expect(owner.written).toEqual([claim('a'), outcome('a', null)])
    expect(tasksOf(unit)).toMatchObject([{ kind: 'claim', try: 2 }])
    expect([tools.started, resultsIn(outputs)]).toEqual([[], []])
  })

  it('gives back the call of an agent that goes on, and a cancel reaches that agent by the next owner', async () => {
    const cancelled: string[] = []
    const run = {
      kind: 'function',
      run: async () => '',
      runsAgent: 'helper',
      cancelAgent: async ({ idempotencyKey }: { idempotencyKey: string }) => {
        cancelled.push(idempotencyKey)
      },
    } as const
    const withAgent = new Map(
      [...agents].map(([name, agent]) => [
        name,
        { ...agent, tools: agent.tools.map((tool) => ({ ...tool, run })) },
      ]),
    )
    const { append, own, tools, outputs } = world()
    const slots = createSlots(1)
    const owner = own('a', startExecutor({ agents: withAgent, run: tools.run, slots }))
    append(roundCleared())
    await settled()
    await owner.close('shutdown')
    expect(outcomesOf(owner.written)).toEqual([outcome('a', null, { goesOn: true })])
    append(cancel)
    expect([cancelled, resultsIn(outputs)]).toEqual([[], []])
    const next = own('b', startExecutor({ agents: withAgent, run: tools.run, slots }))
    await settled()
    expect(cancelled).toEqual(['["c",7,1,0]'])
    expect(typesOf(next.written)).toEqual(['lapsed'])
    expect(resultsIn(outputs)).toEqual([['unknown']])
  })

  it('ends a call whose agent goes on, if its further try is cancelled before the start', async () => {
    const cancelled: string[] = []
    const run = {
      kind: 'function',
      run: async () => '',
      runsAgent: 'helper',
      cancelAgent: async ({ idempotencyKey }: { idempotencyKey: string }) => {
        cancelled.push(idempotencyKey)
      },
    } as const
    const withAgent = new Map(
      [...agents].map(([name, agent]) => [
        name,
        { ...agent, tools: agent.tools.map((tool) => ({ ...tool, run })) },
      ]),
    )
    const { append, own, tools, outputs } = world()
    const slots = createSlots(1)
    const owner = own('a', startExecutor({ agents: withAgent, run: tools.run, slots }))
    append(roundCleared())
    await settled()
    await owner.close('shutdown')
    const checked = Promise.withResolvers<[]>()
    const policies = () => checked.promise
    const next = own('b', startExecutor({ agents: withAgent, run: tools.run, slots }), { policies })
    await settled()
    expect(typesOf(next.written)).toEqual(['claim'])
    append(cancel)
    checked.resolve([])
    await settled()
    expect(cancelled[0]).toEqual('["c",7,1,0]')
    expect(typesOf(next.written)).toEqual(['claim', 'outcome', 'lapsed'])
    expect(resultsIn(outputs)).toEqual([['unknown']])
  })

  it('waits for running tools, and claims nothing more', async () => {
    const { append, own, start, tools, outputs } = world({ places: 1 })
    const owner = own('a', start)
    append(twoCalls)
    await settled()
    let isClosed = false
    const over = owner.close('shutdown').then(() => {
      isClosed = true
    })
    owner.reconcile(unit, [])
    await settled()
    expect([isClosed, tools.started[0]!.stops]).toEqual([false, []])
    await tools.started[0]!.end()
    await over
    expect(typesOf(owner.written)).toEqual(['claim', 'tool-started', 'outcome'])
    expect(outputs).toMatchObject([{ type: 'call-finished', ordinal: 0, status: 'ok' }])
  })

  it('kills tools that still run after the grace, and reports their end', async () => {
    const { append, own, start, tools, clock, outputs } = world()
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    const over = owner.close('shutdown')
    clock.pass(limits.shutdownGraceMs - 1)
    expect(tools.started[0]!.stops).toEqual([])
    clock.pass(1)
    expect(tools.started[0]!.stops).toEqual([{ graceMs: 0, why: 'the executor shut down' }])
    await tools.started[0]!.end({ status: 'unknown' })
    await over
    expect(resultsIn(outputs)).toEqual([['unknown']])
  })
})

describe('the loss of the partition', () => {
  it('starts no more tools and gives back claims without a start', async () => {
    const { append, own, start, tools } = world()
    const owner = own('a', start)
    owner.pause()
    append(roundCleared())
    owner.wake()
    owner.pause()
    await settled()
    await owner.close('lost')
    expect(owner.written).toEqual([claim('a'), outcome('a', null)])
    expect(tools.started).toEqual([])
  })

  it('lets running tools go on and reports their end', async () => {
    const { append, own, start, tools, clock, outputs } = world()
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    const over = owner.close('lost')
    clock.pass(limits.shutdownGraceMs)
    await settled()
    own('b', start)
    expect(tools.started[0]!.stops).toEqual([])
    await tools.started[0]!.end()
    await over
    expect(resultsIn(outputs)).toEqual([['ok']])
    expect(tools.started).toHaveLength(1)
  })

  it('can be followed by a shutdown, which bounds the wait', async () => {
    const { append, own, start, tools, clock } = world()
    const owner = own('a', start)
    append(roundCleared())
    await settled()
    const over = Promise.all([owner.close('lost'), owner.close('shutdown')])
    clock.pass(limits.shutdownGraceMs)
    expect(tools.started[0]!.stops).toMatchObject([{ graceMs: 0 }])
    await tools.started[0]!.end({ status: 'unknown' })
    await over
  })
})

it('the performer logs no arguments, results, keys or commands', async () => {
  const { append, own, start, tools } = world()
  const owner = own('a', start)
  append(
    roundCleared({
      calls: [callOf(0, { raw: '{"password":"hush"}' }), callOf(1, { name: 'look' })],
      agent: 'agent',
    }),
  )
  await settled()
  await tools.started[0]!.end({ text: 'hush' })
  expect(owner.lines.join()).not.toMatch(/hush|secret/)
})
