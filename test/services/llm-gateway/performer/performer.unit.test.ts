// The performer between a scripted provider and a scripted bus, on a clock that the test moves.

import { describe, expect, it } from '@jest/globals'
import { fakeClock } from '../../../../client/testing/fake-clock.ts'
import { echoSource } from '../../../../services/accumulator/echo.ts'
import { foldResponse } from '../../../../services/accumulator/response.ts'
import { withTextCalls } from '../../../../services/accumulator/text-calls.ts'
import { partBytesMax, partHoldMs } from '../../../../services/llm-gateway/performer/answer.ts'
import type { GatewayOptions } from '../../../../services/llm-gateway/performer/attempt.ts'
import { retryBackoffMsMax } from '../../../../services/llm-gateway/performer/attempt.ts'
import { historyWaitMs } from '../../../../services/llm-gateway/performer/contents.ts'
import { startGateway } from '../../../../services/llm-gateway/performer/performer.ts'
import {
  type Connect,
  connect,
  type Provider,
} from '../../../../services/llm-gateway/performer/providers/providers.ts'
import type { AttemptTask } from '../../../../services/llm-gateway/reducer.ts'
import { type Agent, toolRef } from '../../../../shared/agents/agents.ts'
import {
  defaultPolicy,
  defaultSettings,
  policyOf,
} from '../../../../shared/agents/policy/policy.ts'
import { hold } from '../../../../shared/codec/codec.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type {
  CallResult,
  Message,
  ModelFinished,
  ModelRequest,
  PartEvent,
  StopMode,
} from '../../../../shared/contract/messages.ts'
import type { PerformerContext, PolicyRecord } from '../../../../shared/contract/performer.ts'
import type { Port } from '../../../../shared/contract/topology.ts'
import { createLog } from '../../../../shared/lib/log/log.ts'
import { createSlots } from '../../../../shared/lib/slots.ts'
import { version } from '../../../../shared/lib/version.ts'
import { stopLookMs } from '../../../../shared/runtime/settings/stop-watch.ts'
import { exactValues } from '../../../../shared/wire/exact-json.ts'
import type { ProviderRequest, Streamed } from '../../../../shared/wire/exchange.ts'
import { callPieces } from '../../../../shared/wire/openai-chat/calls.ts'
import { modelRequest, noHints, resultWith } from '../../../support/messages.ts'
import { noBudgets } from '../../../support/no-budgets.ts'
import { longText } from '../../../support/script.ts'
import { agentOf, apiKey, call, modelSays, result, tool, userSays } from '../samples.ts'

const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 }
const finished: Streamed = { kind: 'finished', stop: 'end', finish: 'end_turn', usage }
const unavailable: Streamed = {
  kind: 'failed',
  code: 'provider.unavailable',
  class: 'transient',
  reason: 'overloaded',
  retryable: true,
  retryAfterMs: null,
}

function part(kind: PartEvent['kind'], text: string, name: string | null = null): PartEvent {
  return { kind, index: 0, id: null, name, text }
}
const says = (text: string): Streamed => ({ kind: 'events', events: [part('text', text)] })

/**
 * The provider's script. `wait` lasts until the test says `go`. `hang` lasts forever and ignores
 * the signal.
 */
type Step = Streamed | 'wait' | 'hang' | (() => void)

type World = ReturnType<typeof world>

function world(
  script: Step[] = [says('hi'), finished],
  options: {
    agents?: Agent[]
    context?: Partial<PerformerContext>
    connect?: Connect
    echoOf?: GatewayOptions['echoOf']
    streams?: number
    /** The test acknowledges the outputs that lead to tasks. Default: they are acknowledged. */
    isAhead?: boolean
  } = {},
) {
  const clock = fakeClock(1000)
  const written: { to: Port; message: Message }[] = []
  const requests: ProviderRequest[] = []
  const aborted: boolean[] = []
  const logged: string[] = []
  let go = (): void => undefined
  let acknowledge: (() => void) | undefined
  let holdsWrites = false
  let ids = 0

  const provider: Provider = {
    async *stream(request, signal, onBytes) {
      const n = requests.push(request) - 1
      aborted.push(false)
      signal.addEventListener('abort', () => (aborted[n] = true))
      for (const step of script) {
        if (step === 'hang') await new Promise(() => {})
        else if (step === 'wait') {
          await new Promise<void>((resolve) => {
            go = () => {
              onBytes()
              resolve()
            }
          })
        } else if (typeof step === 'function') step()
        else yield step
      }
    },
  }
  const context: PerformerContext = {
    owner: 'owner',
    partition: 0,
    clock,
    formerOwnersDead: false,
    log: createLog({
      level: 'trace',
      destination: { write: (line: string) => void logged.push(line) },
    }),
    randomId: () => `id${++ids}`,
    async write(to, messages) {
      if (holdsWrites) await new Promise<void>((resolve) => (acknowledge = resolve))
      written.push(...messages.map((message) => ({ to, message })))
      return []
    },
    history: async () => [userSays('hello')],
    policy: async () => undefined,
    policies: async () => [],
    async *guardVerdicts() {},
    budgets: noBudgets,
    kept: async () => undefined,
    historyTable: { logTime: () => undefined, keys: async () => [], forget: async () => {} },
    ...options.context,
  }
  const agents = new Map((options.agents ?? [agentOf()]).map((agent) => [agent.name, agent]))
  const streams = createSlots(options.streams ?? limits.modelStreamsMax)
  const performer = startGateway({
    agents,
    connect: options.connect ?? (() => provider),
    streams,
    echoOf: options.echoOf ?? (() => null),
  })(context)
  return {
    clock,
    written,
    requests,
    aborted,
    logged,
    performer: {
      ...performer,
      reconcile(unit: string, tasks: AttemptTask[]): void {
        performer.reconcile(unit, tasks)
        if (options.isAhead !== true) performer.acknowledged?.()
      },
    },
    types: () => written.map(({ message }) => message.type),
    go: () => go(),
    holdWrites: (holds: boolean) => (holdsWrites = holds),
    acknowledge: () => acknowledge?.(),
    messages: <T extends Message['type']>(type: T) =>
      written.map(({ message }) => message).filter((m) => m.type === type) as Extract<
        Message,
        { type: T }
      >[],
  }
}

function task(failures = 0, request: Partial<ModelRequest> = {}): AttemptTask {
  return {
    key: `attempt ${failures}`,
    request: modelRequest(request),
    failures,
    rebuilt: false,
    plain: false,
    reasoningRefused: 'none',
    degenerate: false,
  }
}

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

async function run(world: World, attempt = task()): Promise<World> {
  world.performer.reconcile('u', [attempt])
  await settled()
  return world
}

const failureIn = (world: World) => {
  expect(world.types().at(-1)).toBe('attempt-failed')
  return world.messages('attempt-failed').at(-1)
}

describe('an attempt', () => {
  it('is started, streamed and finished under one random id', async () => {
    const { written } = await run(world())
    const id = { conversation: 'c', turn: 0, round: 1, attempt: 'id1' }
    expect(written).toEqual([
      { to: 'self', message: { type: 'attempt-started', ...id, owner: 'owner', weir: version() } },
      { to: 'response', message: { type: 'part', ...id, i: 0, events: [part('text', 'hi')] } },
      {
        to: 'self',
        message: {
          type: 'attempt-finished',
          ...id,
          parts: 1,
          finish: 'end_turn',
          stop: 'end',
          usage,
          declarations: [],
          policy: defaultPolicy,
          callsAsText: false,
          textCalls: 'tell',
          echoOf: null,
          rest: [[part('text', 'hi')]],
        },
      },
    ])
  })

  it.each([
    [{}, 'tell', false],
    [{ textCalls: 'run' }, 'run', false],
    [{ textCalls: 'off' }, 'off', false],
    [{ model: { ...agentOf().model, toolCalls: 'text' } }, 'run', true],
  ] as [Partial<Agent>, string, boolean][])(
    "records the agent's use of text calls: %j",
    async (fields, textCalls, callsAsText) => {
      const { messages } = await run(world(undefined, { agents: [{ ...agentOf(), ...fields }] }))
      expect(messages('attempt-finished')).toMatchObject([{ textCalls, callsAsText, echoOf: null }])
    },
  )

  it('takes the use of text calls from its own agent file, not from the message', async () => {
    const settings = { ...defaultSettings, textCalls: 'run' }
    const { messages } = await run(world(), task(0, { settings }))
    expect(messages('attempt-finished')).toMatchObject([{ textCalls: 'tell' }])
  })

  it('records the earlier text that holds a call of the answer', async () => {
    const asked: unknown[] = []
    const result = (ordinal: number, status: CallResult['status']) =>
      resultWith({ ordinal, status, text: `${status} text` })
    const calls = [0, 1, 2, 3, 4].map((ordinal) => call({ ordinal }))
    const results = [
      ...[result(0, 'ok'), result(1, 'error'), result(2, 'denied')],
      ...[result(3, 'denied'), result(4, 'skipped')],
    ]
    const history = async () => [
      userSays('a question'),
      modelSays({ text: 'the text of the model', calls }, { results }),
    ]
    const echoOf: GatewayOptions['echoOf'] = (answer, earlier) => {
      asked.push(answer.text, answer.callsAsText, answer.offered.length, [...earlier])
      return 'a message of the user'
    }
    const agents = [agentOf({ textCalls: 'run' })]
    const tools = agentOf().tools.map(({ declaration }) => toolRef(declaration))
    const asking = world([says('read it'), finished], { agents, echoOf, context: { history } })
    const { messages } = await run(asking, task(0, { tools }))
    expect(messages('attempt-finished')).toMatchObject([{ echoOf: 'a message of the user' }])
    expect(asked).toEqual([
      ...['read it', false, 1],
      [
        { source: "a result of the tool 'read'", text: 'ok text' },
        { source: "a result of the tool 'read'", text: 'error text' },
        { source: 'a message of the user', text: 'a question' },
      ],
    ])
  })

  it('looks for no earlier text if the answer names no tool, or is not searched', async () => {
    const never = (): never => {
      throw new Error('nothing holds a call')
    }
    const tools = agentOf().tools.map(({ declaration }) => toolRef(declaration))
    const off = world([says('read it'), finished], {
      agents: [agentOf({ textCalls: 'off' })],
      echoOf: never,
    })
    for (const asking of [world(undefined, { echoOf: never }), off]) {
      const { messages } = await run(asking, task(0, { tools }))
      expect(messages('attempt-finished')).toMatchObject([{ echoOf: null }])
    }
  })

  it.each([
    ['no piece', {}],
    ['an empty piece', { tool_calls: [{ index: 0 }] }],
    [
      'a piece of blanks',
      { tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '' } }] },
    ],
    ['an empty old piece', { function_call: {} }],
    ['a blank old piece', { function_call: { name: '', arguments: '' } }],
  ])('runs no echo of an earlier text next to %s of a native call', async (_, message) => {
    const { declaration } = tool('read')
    const text = JSON.stringify({ name: declaration.name, arguments: { path: '/x' } })
    const pieces = callPieces(message, { exact: exactValues('{}'), path: [], model: 'm' })
    const asking = world([says(text), { kind: 'events', events: pieces }, finished], {
      agents: [agentOf({ textCalls: 'run' })],
      echoOf: echoSource,
      context: { history: async () => [userSays(`Never run ${text}`)] },
    })
    const { messages } = await run(asking, task(0, { tools: [toolRef(declaration)] }))
    const [end] = messages('attempt-finished')
    const parts = messages('part').map(({ events }) => events)
    const round = { ...modelRequest(), ...end, type: 'model-finished', failure: null }
    const folded = foldResponse(parts, round as ModelFinished, [declaration.name])
    const { response } = withTextCalls(folded, round as ModelFinished, [declaration.name])
    expect(response).toMatchObject({ calls: [], textCalls: { held: 'echo' } })
  })

  it('holds a text whose search for echoes failed', async () => {
    const echoOf = (): never => {
      throw new RangeError('too deep')
    }
    const tools = agentOf().tools.map(({ declaration }) => toolRef(declaration))
    const asking = world([says('read it'), finished], { echoOf })
    const { messages } = await run(asking, task(0, { tools }))
    expect(messages('attempt-finished')).toMatchObject([
      { echoOf: 'perhaps an earlier text, which could not be searched,' },
    ])
  })

  it('that ends with an error of our own code is a failed attempt', async () => {
    const agent = agentOf()
    const own = {
      get: () => {
        throw new RangeError('our own error')
      },
    }
    const agents = [Object.defineProperty(agent, 'textCalls', own)]
    const broken = await run(world(undefined, { agents }))
    expect(failureIn(broken)).toMatchObject({ class: 'internal', retryable: true })
  })

  it('writes its last parts with its end if the bus writes both or neither', async () => {
    const whole: { to: Port; message: Message }[][] = []
    const writeWhole = async (entries: { to: Port; message: Message }[]) => {
      whole.push(entries)
      return []
    }
    const attempt = await run(world([says('hi'), finished], { context: { writeWhole } }))
    expect(attempt.types()).toEqual(['attempt-started'])
    expect(whole.map((entries) => entries.map(({ to, message }) => [to, message.type]))).toEqual([
      [
        ['response', 'part'],
        ['self', 'attempt-finished'],
      ],
    ])
    expect(whole[0]?.map(({ message }) => message)).toMatchObject([{ i: 0 }, { parts: 1 }])

    const failed = await run(world([says('hi')], { context: { writeWhole } }))
    expect(failed.types()).toEqual(['attempt-started'])
    expect(whole[1]?.map(({ message }) => message.type)).toEqual(['part', 'attempt-failed'])
  })

  it('calls the provider while its start is written, and ends after that', async () => {
    const slow = world([finished])
    slow.holdWrites(true)
    await run(slow)
    expect(slow.requests).toHaveLength(1)
    expect(slow.types()).toEqual([])
    slow.holdWrites(false)
    slow.acknowledge()
    await settled()
    expect(slow.types()).toEqual(['attempt-started', 'attempt-finished'])
  })

  it('writes no part before model-opened is acknowledged', async () => {
    const ahead = await run(world(undefined, { isAhead: true }))
    expect(ahead.requests).toHaveLength(1)
    expect(ahead.types()).toEqual(['attempt-started'])
    ahead.performer.acknowledged?.()
    await settled()
    expect(ahead.types()).toEqual(['attempt-started', 'part', 'attempt-finished'])
  })

  it('ends with its partition although model-opened was never acknowledged', async () => {
    const ahead = await run(world(undefined, { isAhead: true }))
    await ahead.performer.close('lost')
    expect(ahead.types()).toEqual(['attempt-started'])
  })

  it('finishes without a wait for its last parts, which its end carries', async () => {
    const slow = world([says('a'), 'wait', says('b'), finished])
    await run(slow)
    slow.holdWrites(true)
    slow.clock.advance(partHoldMs)
    await settled()
    slow.holdWrites(false)
    slow.go()
    await settled()
    expect(slow.types()).toEqual(['attempt-started', 'part', 'attempt-finished'])
    expect(slow.messages('part')).toMatchObject([{ i: 1, events: [part('text', 'b')] }])
    const rest = [[part('text', 'a')], [part('text', 'b')]]
    expect(slow.messages('attempt-finished')).toMatchObject([{ parts: 2, rest }])
  })

  it('finishes only after all its parts are acknowledged while older processes run', async () => {
    const holder = {}
    hold(holder, 1)
    const slow = world([says('a'), 'wait', finished])
    await run(slow)
    slow.holdWrites(true)
    slow.clock.advance(partHoldMs)
    slow.go()
    await settled()
    expect(slow.types()).toEqual(['attempt-started'])
    slow.holdWrites(false)
    slow.acknowledge()
    await settled()
    expect(slow.types()).toEqual(['attempt-started', 'part', 'attempt-finished'])
    expect(slow.messages('attempt-finished')).toMatchObject([{ parts: 1, rest: [] }])
    hold(holder, undefined)
  })

  it('may have an empty answer, which has no parts', async () => {
    expect((await run(world([finished]))).messages('attempt-finished')).toMatchObject([
      { parts: 0 },
    ])
  })

  it("bounds the provider's token counts so that a turn can add them up", async () => {
    const most = Number.MAX_SAFE_INTEGER
    const absurd = {
      inputTokens: most,
      outputTokens: 7,
      cacheReadTokens: most,
      cacheWriteTokens: 0,
    }
    const counted = await run(
      world([{ kind: 'finished', stop: 'end', finish: 'end_turn', usage: absurd }]),
    )
    const { usageTokensMax } = limits
    expect(counted.messages('attempt-finished')).toMatchObject([
      {
        usage: {
          inputTokens: usageTokensMax,
          outputTokens: 7,
          cacheReadTokens: usageTokensMax,
          cacheWriteTokens: 0,
        },
      },
    ])
  })

  it('numbers its parts in the order of the stream', async () => {
    const streaming = await run(world([says('a'), 'wait', says('b'), 'wait', says('c'), finished]))
    for (let n = 0; n < 3; n += 1) {
      streaming.clock.advance(partHoldMs)
      streaming.go()
      await settled()
    }
    expect(streaming.messages('part').map(({ i, events }) => [i, events[0]?.text])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ])
    expect(streaming.messages('attempt-finished')).toMatchObject([{ parts: 3 }])
  })

  it('shows the model the history, the tools and the nudge of the request', async () => {
    const tools = [tool('read'), tool('write')]
    const request = {
      nudge: 'Stop that.',
      callsLeft: 0,
      tools: tools.map(({ declaration }) => toolRef(declaration)),
    }
    const { requests } = await run(world(), task(0, request))
    expect(requests).toEqual([
      {
        nudge: 'Stop that.',
        textOnly: true,
        rebuilt: false,
        tools: tools.map(({ declaration }) => declaration),
        history: [userSays('hello')],
        contents: new Map(),
      },
    ])
  })

  it('names the offered declarations that occur in the answer, as calls or in text with possible calls (I2)', async () => {
    const agent = agentOf({ tools: ['read', 'write', 'list', 'never'].map((name) => tool(name)) })
    const offered = ['read', 'write', 'never'].map((name) => toolRef(tool(name).declaration))
    const script: Step[] = [
      {
        kind: 'events',
        events: [
          part('call_start', '', 'read'),
          part('call_start', '', 'list'),
          part('call_start', '', 'unknown'),
        ],
      },
      says('{"name": "wri'),
      says('te"}'),
      finished,
    ]
    const { messages } = await run(world(script, { agents: [agent] }), task(0, { tools: offered }))
    expect(messages('attempt-finished')[0]?.declarations.map(({ name }) => name)).toEqual([
      'read',
      'write',
    ])
  })

  it('does not offer a tool that its own agent file declares in another form, because that file defines the command', async () => {
    const changed = toolRef(tool('read', { description: 'something else' }).declaration)
    const { requests, logged } = await run(
      world(),
      task(0, { tools: [changed, toolRef(tool('write').declaration)] }),
    )
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['write'])
    expect(logged.join('')).toContain('not offered')
  })

  it("carries the policy with the operator's caps if they are lower", async () => {
    const { version: _, ...content } = defaultPolicy
    const caps = { ...content.caps, rounds: 2 }
    const policy = async (key: string): Promise<Message | undefined> =>
      key === 'operator-limits' ? { type: 'operator-limits', caps } : undefined
    const { messages } = await run(world([finished], { context: { policy } }))
    expect(messages('attempt-finished')).toMatchObject([{ policy: policyOf({ ...content, caps }) }])
  })
})

describe('the guards in force', () => {
  const registration: Message = {
    type: 'guard-registration',
    name: 'shell',
    version: '1',
    deadlineMs: 5_000,
    onTimeout: 'deny',
    rules: null,
    registeredAt: 1,
    setBy: '',
    firstAt: null,
    replaced: [],
    tools: [{ pattern: '*', mode: 'enforce' }],
  }

  it("are stamped on the round, and the message's guards have no effect", async () => {
    const { messages } = await run(
      world([finished], {
        context: { policies: async () => [{ key: 'guard:shell', message: registration, time: 0 }] },
      }),
    )
    expect(messages('attempt-finished')).toMatchObject([
      { policy: { guards: [{ name: 'shell', deadlineMs: 5_000 }] } },
    ])
  })

  function stopping(mode: StopMode) {
    const message = { type: 'operator-stop' as const, scope: 'all' as const, name: '', mode }
    const table: PolicyRecord[] = []
    const stop = () => {
      const words = { reason: 'wrong transfers', setBy: 'anna', setAt: 1 }
      table.push({ key: 'stop:all', message: { ...message, ...words }, time: 0 })
    }
    return { stop, context: { policies: async () => table } }
  }
  const failure = { class: 'stopped', reason: 'an operator stopped all agents: wrong transfers' }

  it('prevent the call of a model if they are stops', async () => {
    const { stop, context } = stopping('drain')
    stop()
    const refused = await run(world([finished], { context }))
    expect(failureIn(refused)).toMatchObject({ ...failure, retryable: false })
    expect(refused.requests).toEqual([])
  })

  it('prevent the call of a model if the format in force drops a rule of the agent', async () => {
    const holder = {}
    const hints = { ...noHints, once: { by: [], forMs: 1, within: 'conversation' as const } }
    const paying = tool('pay', { hints })
    hold(holder, 1)
    try {
      const tools = [toolRef(paying.declaration)]
      const refused = await run(
        world([finished], { agents: [agentOf({ tools: [paying] })] }),
        task(0, { tools }),
      )
      expect(failureIn(refused)).toMatchObject({
        reason: expect.stringMatching(/rule 'once', and record format 1/),
        retryable: false,
      })
      expect(refused.requests).toEqual([])
    } finally {
      hold(holder, undefined)
    }
  })

  it('end a running request at now, and its failure is written once', async () => {
    const { stop, context } = stopping('now')
    const running = await run(world([says('a'), 'hang'], { context }))
    stop()
    running.clock.advance(stopLookMs)
    await settled()
    running.clock.advance(stopLookMs)
    await settled()
    expect(running.messages('attempt-failed')).toMatchObject([failure])
    expect(running.aborted).toEqual([true])
  })

  it('leave a running request alone at drain', async () => {
    const { stop, context } = stopping('drain')
    const running = await run(world([says('a'), 'wait', finished], { context }))
    stop()
    running.clock.advance(stopLookMs)
    await settled()
    running.go()
    await settled()
    expect(running.messages('attempt-failed')).toEqual([])
    expect(running.messages('attempt-finished')).toHaveLength(1)
  })

  it.each<[string, PerformerContext['policies']]>([
    [
      'cannot be used',
      async () => [
        { key: 'guard:shell', message: { ...registration, deadlineMs: 0 } as Message, time: 0 },
      ],
    ],
    ['cannot be read', () => Promise.reject(new Error('no message'))],
  ])('prevent the call of a model if one of them %s', async (_, policies) => {
    const refused = await run(world([finished], { context: { policies } }))
    expect(failureIn(refused)).toMatchObject({ retryable: true })
    expect(refused.requests).toEqual([])
  })
})

describe('no attempt', () => {
  it('is made without the history entry that the request names', async () => {
    const waits: unknown[] = []
    const history: PerformerContext['history'] = async (upTo, waitMs) =>
      void waits.push([upTo, waitMs])
    const none = await run(
      world([finished], { context: { history } }),
      task(0, { turn: 5, round: 3, historyRound: 2 }),
    )
    expect(waits).toEqual([[{ conversation: 'c', turn: 5, round: 2 }, historyWaitMs]])
    expect(none.types()).toEqual(['attempt-failed'])
    expect(failureIn(none)).toMatchObject({
      class: 'transient',
      retryable: true,
      reason: expect.stringContaining('5/2'),
    })
    expect(none.requests).toEqual([])
  })

  it('is made with a history of more bytes than a request may have, because it cannot shrink', async () => {
    const history = async () => [userSays('x'.repeat(limits.historyBytesMax + 1))]
    const heavy = await run(world([], { context: { history } }))
    expect(failureIn(heavy)).toMatchObject({ class: 'context_full', retryable: false })
    expect(heavy.requests).toEqual([])
  })

  it("is made if the operator's limits cannot be read", async () => {
    const wrong = async (): Promise<Message> => ({ ...modelRequest() })
    const broken = () => Promise.reject(new Error('the table is gone'))
    for (const policy of [wrong, broken]) {
      const unreadable = await run(world([finished], { context: { policy } }))
      expect(unreadable.types()).toEqual(['attempt-failed'])
      expect(failureIn(unreadable)).toMatchObject({ retryable: true })
    }
  })

  it('is made for an agent that this gateway does not have, without retries', async () => {
    const unknown = await run(world(), task(0, { agent: 'nobody' }))
    expect(unknown.types()).toEqual(['attempt-failed'])
    expect(failureIn(unknown)).toMatchObject({
      class: 'internal',
      retryable: false,
      reason: expect.stringContaining("of agent 'nobody'"),
    })
    expect(unknown.messages('attempt-failed')[0]?.reason).toMatch(
      /has 'agent' only; start Weir with the agent file of 'nobody'/,
    )
    expect(
      unknown.logged.filter((line) =>
        line.includes("a turn cannot go on: the turn is of agent 'nobody'"),
      ),
    ).toHaveLength(1)
  })

  it('is made after the round has expired, because the tick reports that', async () => {
    const late = await run(world(), task(0, { expiresAt: 1000 }))
    expect(late.written).toEqual([])
    expect(late.requests).toEqual([])
  })

  it('is made if the round expires while the tables are read', async () => {
    const policies = async () => {
      late.clock.advance(1000)
      return []
    }
    const late: World = world(undefined, { context: { policies } })
    await run(late, task(0, { expiresAt: 2000 }))
    expect(late.requests).toEqual([])
  })
})

describe('an attempt fails', () => {
  it("with the provider's reason, after its shown parts are written", async () => {
    const failed = await run(world([says('a'), { ...unavailable, retryAfterMs: 7000 }]))
    expect(failed.types()).toEqual(['attempt-started', 'part', 'attempt-failed'])
    expect(failureIn(failed)).toEqual({
      type: 'attempt-failed',
      conversation: 'c',
      turn: 0,
      round: 1,
      attempt: 'id1',
      reason: 'overloaded',
      class: 'transient',
      retryable: true,
      retryAfterMs: 7000,
      historyRefused: false,
      historyShortened: false,
      toolsRefused: false,
      reasoningRefused: 'none',
    })
  })

  it('as degenerate if it repeats itself without end, in text or in thinking, and its request is left', async () => {
    for (const kind of ['text', 'reasoning'] as const) {
      const piece: Streamed = { kind: 'events', events: [part(kind, 'again and '.repeat(10))] }
      const stopped = await run(world([...Array.from({ length: 1000 }, () => piece), finished]))
      expect(failureIn(stopped)).toMatchObject({
        class: 'degenerate',
        retryable: true,
        reason: expect.stringMatching(
          /^the response was stopped: it repeated the same text 41\d times/,
        ),
      })
      expect(stopped.aborted).toEqual([true])
    }
  })

  it('not as degenerate if a tool returned the same text in this turn, and only then', async () => {
    const script = [says('again and '.repeat(2000)), finished]
    const results = [result({ text: 'again and '.repeat(3000) })]
    const context = {
      history: async () => [userSays('hello'), modelSays({ calls: [call()] }, { results })],
    }
    expect((await run(world(script, { context }))).types().at(-1)).toBe('attempt-finished')
    const earlier = {
      history: async () => [...(await context.history()), userSays('again', { turn: 1 })],
    }
    expect(failureIn(await run(world(script, { context: earlier })))?.class).toBe('degenerate')
  })

  it('once as degenerate: the next request begins with a reminder after the nudge, and is the last', async () => {
    const script = [says('again and '.repeat(2000)), finished]
    const again = await run(world(script), { ...task(1, { nudge: 'STOP' }), degenerate: true })
    expect(again.requests[0]?.nudge).toMatch(/^STOP\n\nYour last response was stopped/)
    expect(failureIn(again)).toMatchObject({ class: 'degenerate', retryable: false })
  })

  it('with a wait that grows with each failure up to a bound, if the provider names none', async () => {
    const waits: unknown[] = []
    for (const failures of [0, 1, 2, 9])
      waits.push(failureIn(await run(world([unavailable]), task(failures)))?.retryAfterMs)
    expect(waits).toEqual([1000, 2000, 4000, retryBackoffMsMax])
  })

  it('with that wait also if the provider allows an immediate retry', async () => {
    expect(
      failureIn(await run(world([{ ...unavailable, retryAfterMs: 0 }]), task(1))),
    ).toMatchObject({ retryAfterMs: 2000 })
  })

  it('if the stream ends before the provider states why: whole or nothing', async () => {
    const cut = await run(
      world([says('half an ans'), { kind: 'finished', stop: 'cut', finish: '', usage }]),
    )
    expect(failureIn(cut)).toMatchObject({ class: 'transient', retryable: true })
    expect(cut.messages('attempt-finished')).toEqual([])
  })

  it('if the context ends before the answer does, except for a text that the user can read', async () => {
    const ended: Streamed = {
      kind: 'finished',
      stop: 'length',
      finish: 'model_context_window_exceeded',
      usage,
    }
    const called: Streamed = { kind: 'events', events: [part('call_start', '', 'read')] }
    for (const script of [[ended], [says(' '), ended], [says('I will'), called, ended]])
      expect(failureIn(await run(world(script)))).toMatchObject({
        class: 'context_full',
        retryable: false,
        reason: expect.stringContaining('begin a new conversation'),
      })
    const text = await run(world([says('The answer is'), ended]))
    expect(text.messages('attempt-finished')).toMatchObject([{ stop: 'length' }])
  })

  it('if the answer has more bytes than a round may have', async () => {
    const large = says(longText(limits.roundPartsBytesMax / 4))
    const flood = await run(world([large, large, large, large, 'hang']))
    expect(failureIn(flood)).toMatchObject({ class: 'deterministic', retryable: false })
    expect(flood.aborted).toEqual([true])
  })

  it("if the provider's code throws or has no ending, without the thrown text in the record", async () => {
    const thrown = await run(
      world([
        says('a'),
        () => {
          throw new Error(`with ${apiKey}`)
        },
      ]),
    )
    expect(failureIn(thrown)).toMatchObject({
      class: 'internal',
      retryable: true,
      reason: expect.not.stringContaining(apiKey),
    })
    expect(failureIn(await run(world([says('a')])))).toMatchObject({ class: 'internal' })
    const connect = () => {
      throw new TypeError('no such provider')
    }
    expect(failureIn(await run(world([], { connect })))).toMatchObject({ class: 'internal' })
  })
})

describe('a stall', () => {
  const settings = { ...defaultSettings, stallMs: 5000 }

  it('is stallMs without a byte: the attempt fails, and the provider gets the abort even if it ignores it', async () => {
    const silent = await run(world([says('a'), 'hang']), task(0, { settings }))
    silent.clock.advance(4999)
    await settled()
    expect(silent.types()).toEqual(['attempt-started', 'part'])
    silent.clock.advance(1)
    await settled()
    expect(failureIn(silent)).toMatchObject({
      class: 'transient',
      retryable: true,
      reason: expect.stringContaining('5000 ms'),
    })
    expect(silent.aborted).toEqual([true])
  })

  it('is a minute to the first byte by default, and stallMs for settings of an older record', async () => {
    const silent = await run(world(['hang']), task(0, { settings: defaultSettings }))
    silent.clock.advance(59_999)
    await settled()
    expect(silent.types()).toEqual(['attempt-started'])
    silent.clock.advance(1)
    await settled()
    expect(failureIn(silent)).toMatchObject({
      class: 'transient',
      retryable: true,
      reason: "no byte from the provider for 60000 ms (the agent's setting firstByteMs)",
    })
    const older = { ...defaultSettings, firstByteMs: null }
    const patient = await run(world(['hang']), task(0, { settings: older }))
    patient.clock.advance(299_999)
    await settled()
    expect(patient.types()).toEqual(['attempt-started'])
    patient.clock.advance(1)
    await settled()
    expect(failureIn(patient)).toMatchObject({ reason: expect.stringContaining('300000 ms') })
  })

  it('is postponed by every byte, even a meaningless one', async () => {
    const alive = await run(world(['wait', 'wait', 'wait', finished]), task(0, { settings }))
    for (let n = 0; n < 3; n += 1) {
      alive.clock.advance(4000)
      alive.go()
      await settled()
    }
    expect(alive.types().at(-1)).toBe('attempt-finished')
  })

  it('does not include waits for our own bus', async () => {
    const large = says(longText(partBytesMax))
    const slow: World = world([() => slow.holdWrites(true), large, large, finished])
    await run(slow, task(0, { settings }))
    slow.clock.advance(60_000)
    await settled()
    slow.holdWrites(false)
    slow.acknowledge()
    await settled()
    expect(slow.types()).toEqual(['attempt-started', 'part', 'part', 'attempt-finished'])
  })

  it("does not include the time to load the provider's code", async () => {
    const { promise: loaded, resolve: load } = Promise.withResolvers<Provider>()
    const loading = await run(world([], { connect: () => loaded }), task(0, { settings }))
    loading.clock.advance(60_000)
    await settled()
    load({
      async *stream() {
        yield finished
      },
    })
    await settled()
    expect(loading.types()).toEqual(['attempt-started', 'attempt-finished'])
  })
})

describe('a task', () => {
  it('runs once, even if it is wanted repeatedly, also after its result', async () => {
    const failing = await run(world([unavailable]))
    await run(failing)
    await run(failing)
    expect(failing.requests).toHaveLength(1)
  })

  it('is followed by the next one that is wanted', async () => {
    const failing = await run(world([unavailable]))
    failing.performer.reconcile('u', [])
    await run(failing, task(1))
    expect(failing.requests).toHaveLength(2)
    expect(failing.messages('attempt-failed').map(({ attempt }) => attempt)).toEqual(['id1', 'id2'])
  })

  it('is aborted and writes nothing more once it is no longer wanted', async () => {
    const cancelled = await run(world([says('a'), 'wait', says('b'), finished]))
    cancelled.performer.reconcile('u', [])
    expect(cancelled.aborted).toEqual([true])
    cancelled.go()
    cancelled.clock.advance(60_000)
    await settled()
    expect(cancelled.types()).toEqual(['attempt-started'])
  })

  it('is aborted when the next one replaces it, and that one runs', async () => {
    const replaced = await run(world(['wait', finished]))
    await run(replaced, task(1))
    expect(replaced.aborted).toEqual([true, false])
    replaced.go()
    await settled()
    expect(replaced.messages('attempt-finished')).toMatchObject([{ attempt: 'id2' }])
  })

  it('of one round does not touch another round', async () => {
    const two = world(['wait', finished])
    two.performer.reconcile('u', [task()])
    two.performer.reconcile('v', [task(0, { round: 2 })])
    await settled()
    two.performer.reconcile('u', [])
    await settled()
    expect(two.aborted).toEqual([true, false])
  })
})

describe('closing', () => {
  it.each(['shutdown', 'lost'] as const)(
    '(%s) aborts running attempts, and writes and starts nothing more',
    async (how) => {
      const closing = await run(world([says('a'), 'hang']))
      await closing.performer.close(how)
      expect(closing.aborted).toEqual([true])
      closing.performer.reconcile('v', [task()])
      closing.clock.advance(60_000)
      await settled()
      expect(closing.types()).toEqual(['attempt-started'])
      expect(closing.requests).toHaveLength(1)
    },
  )

  it('does not wait for a history entry that does not come', async () => {
    const waiting = await run(world([], { context: { history: () => new Promise(() => {}) } }))
    await waiting.performer.close('shutdown')
    expect(waiting.written).toEqual([])
  })

  it('waits for a write that is under way', async () => {
    const writing = await run(world([says('a'), 'hang']))
    writing.holdWrites(true)
    writing.clock.advance(partHoldMs)
    await settled()
    let closed = false
    const close = writing.performer.close('lost').then(() => (closed = true))
    await settled()
    expect(closed).toBe(false)
    writing.acknowledge()
    await close
  })
})

describe('a bus that fails for good', () => {
  it.each(['attempt-started', 'part', 'attempt-finished', 'attempt-failed'])(
    'at %s ends the attempt with a line in the log',
    async (type) => {
      const write: PerformerContext['write'] = async (_, messages) => {
        if (messages.some((message) => message.type === type)) throw new Error('the bus gave up')
        return []
      }
      const script = type === 'attempt-failed' ? [unavailable] : [says('a'), finished]
      const given = await run(world(script, { context: { write } }))
      expect(given.logged.join('')).toContain('the bus gave up')
      await run(given)
      expect(given.requests.length).toBeLessThanOrEqual(1)
      await given.performer.close('lost')
    },
  )
})

describe('the streams of a process', () => {
  const start = (busy: World, ...conversations: string[]) => {
    for (const conversation of conversations)
      busy.performer.reconcile(conversation, [task(0, { conversation })])
  }
  const started = (busy: World) =>
    busy.messages('attempt-started').map(({ conversation }) => conversation)

  it('are bounded in number, and waiting attempts are served in order', async () => {
    const busy = world(['wait', finished], { streams: 2 })
    start(busy, 'a', 'b', 'c', 'd')
    await settled()
    expect(started(busy)).toEqual(['a', 'b'])
    busy.go() // ends b's
    await settled()
    expect(started(busy)).toEqual(['a', 'b', 'c'])
    busy.go()
    await settled()
    expect(started(busy)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('go to tenants in turn, so one with many conversations delays no other', async () => {
    const busy = world(['hang'], { streams: 1 })
    start(busy, 'acme:1', 'acme:2', 'acme:3', 'other:1')
    for (let ended = 0; ended < 3; ended += 1) {
      await settled()
      busy.performer.reconcile(started(busy)[ended] as string, [])
    }
    await settled()
    expect(started(busy)).toEqual(['acme:1', 'acme:2', 'other:1', 'acme:3'])
    await busy.performer.close('lost')
  })

  it('are free for others once an attempt is no longer wanted, waiting or not', async () => {
    const busy = world(['hang'], { streams: 1 })
    start(busy, 'a', 'b', 'c')
    await settled()
    busy.performer.reconcile('b', [])
    busy.performer.reconcile('a', [])
    await settled()
    expect(started(busy)).toEqual(['a', 'c'])
    await busy.performer.close('lost')
  })

  it('return from an attempt that failed, or could not be written', async () => {
    const failing = world([unavailable], { streams: 1 })
    start(failing, 'a', 'b')
    await settled()
    expect(started(failing)).toEqual(['a', 'b'])
    const write: PerformerContext['write'] = () => Promise.reject(new Error('the bus gave up'))
    const broken = world([finished], { streams: 1, context: { write } })
    start(broken, 'a', 'b')
    await settled()
    expect(broken.logged.filter((line) => line.includes('the bus gave up'))).toHaveLength(2)
  })
})

it("keeps the agent's key out of every record and every line of the log", async () => {
  const refusing: typeof fetch = async (_, init) =>
    new Response(
      JSON.stringify({
        error: {
          type: 'authentication_error',
          message: `bad key ${new Headers(init?.headers).get('authorization')}`,
        },
      }),
      { status: 401 },
    )
  const spoiling: typeof fetch = async () =>
    new Response(
      `event: error\ndata: {"error":{"type":"api_error","message":"with ${apiKey}"}}\n\n`,
    )
  const failing: typeof fetch = () => Promise.reject(new Error(`cannot reach it with ${apiKey}`))
  for (const fetch of [refusing, spoiling, failing]) {
    const { written, logged, types } = await run(
      world([], { connect: (agent) => connect(agent, fetch) }),
    )
    expect(types().at(-1)).toBe('attempt-failed')
    expect(JSON.stringify(written) + logged.join('')).not.toContain(apiKey)
  }
})

it("masks the agent's key in each text of an answer before the first write, also in ids, names and the finish reason", async () => {
  const [begin, end] = [apiKey.slice(0, 9), apiKey.slice(9)]
  const events: PartEvent[] = [
    part('provider_said', JSON.stringify({ id: `msg-${apiKey}`, model: apiKey })),
    part('reasoning', `I have ${begin}`),
    part('reasoning', `${end} here`),
    part('text', 'the key is '),
    part('text', begin),
    part('text', `${end.toUpperCase()}.`),
    { kind: 'call_start', index: 1, id: `call-${apiKey}`, name: `run-${apiKey}`, text: '' },
    { ...part('call_arguments', `{"with":"${begin}`), index: 1 },
    { ...part('call_arguments', `${end}"}`), index: 1 },
    { ...part('call_done', `{"with":"${apiKey}"}`), index: 1 },
  ]
  const { messages, written, logged } = await run(
    world([
      { kind: 'events', events },
      { ...finished, finish: `stop ${apiKey}` },
    ]),
  )
  const [ended] = messages('attempt-finished')
  expect(ended?.finish).toBe('stop [key]')
  expect(JSON.stringify(written).toLowerCase() + logged.join('')).not.toContain(end.toLowerCase())
  const parts = messages('part').map((record) => record.events)
  const round = { ...modelRequest(), ...ended, type: 'model-finished', failure: null }
  const { response } = foldResponse(parts, round as ModelFinished, [])
  expect(response.text).toBe('the key is [key].')
  expect(response.calls).toMatchObject([
    { id: 'call-[key]', name: 'run-[key]', raw: '{"with":"[key]"}' },
  ])
})

it.each(['ollama', 'not-needed', 'local'])(
  'keeps the ordinary word %s in an answer although it is the key for a local server',
  async (word) => {
    const agents = [agentOf({}, { apiKey: word })]
    const { messages } = await run(
      world([says(`use ${word}`), { ...finished, finish: word }], { agents }),
    )
    const events = messages('part').flatMap((record) => record.events)
    expect(events.map(({ text }) => text)).toEqual([`use ${word}`])
    expect(messages('attempt-finished')[0]?.finish).toBe(word)
  },
)

it('keeps each character of an answer whose pieces only begin like the key', async () => {
  const texts = ['a s', 'k', '-test', '-1 b', ' s']
  const { messages } = await run(world([...texts.map(says), finished]))
  const events = messages('part').flatMap((record) => record.events)
  expect(events.map(({ text }) => text).join('')).toBe(texts.join(''))
})
