// A front against a scripted stage: the records that it writes, and its answers when the stage is
// late, silent, or does not count a round. The stage itself is in guard.int.test.ts.

import { afterEach, describe, expect, it } from '@jest/globals'
import pino from 'pino'
import { createFront, guestCatchUpsMax, guestRoundsSentMax } from '../../../client/guard/front.ts'
import type { GuestConversation } from '../../../client/guard/guest-conversation.ts'
import {
  conversationOfGuest,
  createThreads,
  type ThreadOptions,
} from '../../../client/guard/guest-thread.ts'
import { openTurns } from '../../../client/guard/inbox.ts'
import { linkOn, openActivity } from '../../../client/guard/log/guest-activity.ts'
import { emptyResponse } from '../../../services/accumulator/response.ts'
import { defaultGuestSettings } from '../../../shared/agents/guest.ts'
import { openEmbeddedBus } from '../../../shared/bus/embedded/bus.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  GuestAdvice,
  GuestCallVerdict,
  GuestClaim,
  GuestResults,
  GuestRound,
  Message,
} from '../../../shared/contract/messages.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import { newestTurn } from '../../../shared/contract/topology.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { answerOf, requestOf, type Said, saidCall, saidText } from '../../support/guest-requests.ts'
import { waitMaxMs } from '../../support/wait-limit.ts'

const topicPrefix = 'weir.'
const conversation = conversationOfGuest('coder', 'thread')
const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

type Written = GuestRound | GuestResults

/**
 * A stage that answers each record with the records of `script`, in the turn of the record. `claims`: the
 * answer to a claim. Default: the front gets all of its calls.
 */
async function scripted(
  script: (message: Written, at: number) => Message[],
  claims = ({ type: _, ...claim }: GuestClaim): Message[] => [{ type: 'guest-claimed', ...claim }],
) {
  const bus = await openEmbeddedBus({ file: ':memory:', clock: systemClock })
  await bus.ensureTopics(topicSpecs(topicPrefix, 1))
  const stop = new AbortController()
  const written: Written[] = []
  const stage = follow(bus, stop.signal, async (message) => {
    if (message.type !== 'guest-claim') written.push(message)
    const answers =
      message.type === 'guest-claim' ? claims(message) : script(message, written.length - 1)
    const turnKey = message.type === 'guest-claim' ? '' : message.turnKey
    if (answers.length > 0)
      await bus.append(
        answers.map((answer) =>
          toRecord({
            topic: `${topicPrefix}activity`,
            partition: 0,
            message: 'turnKey' in answer && answer.turnKey === '' ? { ...answer, turnKey } : answer,
          }),
        ),
      )
  })
  const activity = openActivity({ bus, topicPrefix, partitions: 1 })
  open.push({
    async close() {
      stop.abort()
      activity.close()
      await stage.catch(() => {})
      await bus.close()
    },
  })
  /** Makes the objects of one front for the conversation. */
  function threads({
    blocking = true,
    refuses = blocking,
    waitMs = waitMaxMs,
  }: {
    blocking?: boolean
    refuses?: boolean
    waitMs?: number
  } = {}) {
    const agent = {
      name: 'coder',
      settings: defaultGuestSettings,
      hints: {},
      record: 'all' as const,
    }
    const log = pino({ level: 'silent' })
    const policy = async () => defaultGuestSettings.policy
    const front = createFront({
      link: linkOn({ bus, topicPrefix, partitions: 1 }, { activity, log }),
      agent,
      blocking,
      policy,
    })
    const made = createThreads({ front, agent, blocking, refuses, waitMs, log })
    return (options: ThreadOptions = {}) => made(conversation, options)
  }
  const thread = (options: ThreadOptions & Parameters<typeof threads>[0] = {}) =>
    threads(options)(options)
  return { written, thread, threads }
}

async function follow(
  bus: Bus,
  signal: AbortSignal,
  take: (message: Written | GuestClaim) => Promise<void>,
) {
  const place = { topic: `${topicPrefix}guest-events`, partition: 0, from: 0, signal }
  for await (const records of bus.follow(place))
    for (const { value } of records) await take(decode(value as Uint8Array) as Written | GuestClaim)
}

const advice = (fields: Partial<GuestAdvice>): GuestAdvice => ({
  type: 'guest-advice',
  conversation,
  turn: 0,
  turnKey: '',
  round: 1,
  key: '',
  action: 'none',
  text: '',
  reason: '',
  rule: null,
  cap: null,
  unknown: [],
  denied: [],
  hidden: [],
  over: [],
  isOpen: true,
  requestId: '',
  ...fields,
})

const started = (key: string, round = 1, turnKey = ''): Message => ({
  type: 'round-started',
  conversation,
  turn: 0,
  round,
  callsLeft: 1,
  nudged: false,
  caps: null,
  turnKey,
  key,
})

const verdicts = (
  round: number,
  ...kinds: (GuestCallVerdict['verdict'] | Partial<GuestCallVerdict>)[]
): Message => ({
  type: 'guest-verdicts',
  conversation,
  turn: 0,
  round,
  calls: kinds.map((kind, ordinal) => ({
    ordinal,
    callId: `call_${ordinal}`,
    name: 'read',
    text: '',
    code: '',
    guard: '',
    until: 0,
    isOver: false,
    ...(typeof kind === 'string' ? { verdict: kind } : { verdict: 'deny' as const, ...kind }),
  })),
})

const isRound = (message: Written): message is GuestRound => message.type === 'guest-round'

const read = (n: number) => saidCall('read', { n }, { id: `call_${n}`, result: `content ${n}` })
const asked = (responses: Said[]) => requestOf('anthropic', [{ user: 'Go.', responses }])

describe('before the model', () => {
  it('sends the keys and the last results, and returns the advice on them', async () => {
    const { written, thread } = await scripted((message) =>
      isRound(message)
        ? []
        : [
            advice({ requestId: 'another' }),
            advice({ requestId: message.requestId, action: 'nudge', text: 'Stop.', rule: 'cycle' }),
          ],
    )
    const request = asked([read(0), read(1)])
    const result = await thread().beforeModel(request)
    expect(result).toMatchObject({ action: 'nudge', text: 'Stop.', rule: 'cycle', judged: true })
    expect(written).toMatchObject([
      {
        type: 'guest-results',
        phase: 'before_model',
        user: 'Go.',
        blocking: true,
        results: [{ callId: 'call_1', text: 'content 1' }],
      },
    ])
    expect((written[0] as GuestResults).keys).toHaveLength(2)
  })

  it('sends rounds that the log does not know in their order, few at a time, and asks again', async () => {
    const known = new Set<string>()
    const waiting: string[] = []
    let waitingMax = 0
    const { written, thread } = await scripted((message) => {
      if (isRound(message)) {
        waitingMax = Math.max(waitingMax, waiting.push(message.key))
        known.add(message.key)
        // The first rounds are over only when the front waits.
        if (waiting.length < guestRoundsSentMax) return []
        return waiting.splice(0, waiting.length / 2 + 1).map((key) => advice({ key }))
      }
      if (message.phase !== 'before_model') return []
      const unknown = message.keys.filter((key) => !known.has(key))
      return [advice({ requestId: message.requestId, unknown })]
    })
    const said = Array.from({ length: 40 }, (_, n) => read(n))
    const result = await thread().beforeModel(asked(said))
    expect(result.judged).toBe(true)
    const rounds = written.filter(isRound)
    expect(rounds.map(({ response }) => response.calls[0]?.id)).toEqual(
      said.map((_, n) => `call_${n}`),
    )
    expect(waitingMax).toBe(guestRoundsSentMax)
    // Each round's own results follow it.
    for (const [at, message] of written.entries())
      if (isRound(message))
        expect(written[at + 1]).toMatchObject({ phase: 'running', results: [{ key: message.key }] })
    expect(written.at(-1)).toMatchObject({ phase: 'before_model' })
  })

  it('sends the results of the last known round, whose request had no answer, before a round that the log does not know', async () => {
    const { written, thread } = await scripted((message) =>
      isRound(message) || message.phase === 'running'
        ? []
        : [advice({ requestId: message.requestId, unknown: message.keys.slice(1) })],
    )
    await thread({ waitMs: 50 }).beforeModel(asked([read(0), read(1)]))
    const [first] = (written[0] as GuestResults).keys
    expect(written.slice(1, 3)).toMatchObject([
      { phase: 'running', results: [{ key: first, callId: 'call_0', text: 'content 0' }] },
      { type: 'guest-round', after: first },
    ])
  })

  it('sends no second large round before the first is over', async () => {
    const { written, thread } = await scripted((message) =>
      isRound(message) || message.phase === 'running'
        ? []
        : [advice({ requestId: message.requestId, unknown: message.keys })],
    )
    const text = 'x'.repeat(limits.resultBytesMax)
    const said = Array.from({ length: 3 }, (_, n) => ({
      text: '',
      calls: ['a', 'b'].map((name) => ({
        id: `${name}${n}`,
        name: 'read',
        arguments: '{}',
        result: { text, isError: false },
      })),
    }))
    const result = await thread({ waitMs: 50 }).beforeModel(asked(said))
    expect(result.judged).toBe(false)
    expect(written.filter(isRound)).toHaveLength(1)
  })

  it('stops after some repeats if the log never knows a round', async () => {
    const { written, thread } = await scripted((message) =>
      isRound(message)
        ? [advice({ key: message.key })]
        : [advice({ requestId: message.requestId, unknown: message.keys })],
    )
    const result = await thread().beforeModel(asked([read(0)]))
    expect(result).toMatchObject({ action: 'none', judged: false })
    expect(written.filter(isRound)).toHaveLength(guestCatchUpsMax)
  })

  it('is not judged if the stage is silent, and the request stays the same object', async () => {
    const { thread } = await scripted(() => [])
    const request = asked([read(0)])
    const result = await thread({ waitMs: 20 }).beforeModel(request)
    expect(result).toMatchObject({ action: 'none', judged: false })
    expect(result.applied).toBe(request.body)
  })

  it('rejects with the reason of its signal', async () => {
    const { thread } = await scripted(() => [])
    const stop = new AbortController()
    const result = thread().beforeModel(asked([read(0)]), stop.signal)
    stop.abort(new Error('gone'))
    await expect(result).rejects.toThrow('gone')
  })
})

describe('after the model', () => {
  const request = asked([])
  const answering = (message: Written): Message[] =>
    isRound(message)
      ? [started(message.key), verdicts(1, 'allow')]
      : [advice({ requestId: message.requestId })]

  it('sends results before its round if no answered request has shown them', async () => {
    const { written, thread } = await scripted(answering)
    await thread().afterModel(answerOf(asked([read(0)]), read(1)))
    expect(written).toMatchObject([
      { phase: 'running', results: [{ callId: 'call_0', text: 'content 0' }] },
      { type: 'guest-round' },
    ])
    const [results, round] = written as [GuestResults, GuestRound]
    expect(results.results[0]?.key).toBe(round.after)
  })

  it('sends no results again that an answered request has shown', async () => {
    const { written, threads } = await scripted(answering)
    const said = asked([read(0)])
    const front = threads()
    await front().beforeModel(said)
    await front().afterModel(answerOf(said, read(1)))
    expect(written.map(({ type }) => type)).toEqual(['guest-results', 'guest-round'])
  })

  const both = { text: '', calls: [...read(0).calls, ...read(1).calls] }

  it('returns the newest verdicts on its own round once no call waits', async () => {
    const { thread } = await scripted((message) =>
      isRound(message)
        ? [
            verdicts(7, 'allow', 'allow'), // of another round
            started('another', 7),
            started(message.key, 8),
            verdicts(8, 'allow', 'pending'),
            verdicts(8, 'allow', {
              text: 'No.',
              code: 'vetoed by guard shell: policy',
              guard: 'shell',
            }),
          ]
        : [],
    )
    expect(await thread().afterModel(answerOf(request, both))).toEqual([
      { callId: 'call_0', name: 'read', verdict: 'allow', text: '', code: '' },
      {
        callId: 'call_1',
        name: 'read',
        verdict: 'deny',
        text: 'No.',
        code: 'guard.denied',
        reason: 'vetoed by guard shell: policy',
      },
    ])
  })

  it('takes no verdict on a round of another turn with the same words', async () => {
    const { thread } = await scripted((message) =>
      isRound(message)
        ? [
            started(message.key, 7, 'another'),
            verdicts(7, 'allow', 'allow'),
            advice({ key: message.key, round: 7, turnKey: 'another' }),
            started(message.key, 8),
            verdicts(8, { text: 'No.' }, { text: 'No.' }),
          ]
        : [],
    )
    const result = await thread().afterModel(answerOf(request, both))
    expect(result.map(({ verdict }) => verdict)).toEqual(['deny', 'deny'])
  })

  it('takes the end of its round also under another name of the turn', async () => {
    const { thread } = await scripted((message) =>
      isRound(message)
        ? [
            started(message.key, 8),
            advice({ key: message.key, round: 8, turnKey: 'of another front' }),
          ]
        : [],
    )
    const result = await thread().afterModel(answerOf(request, both))
    expect(result).toMatchObject([{ code: 'guest.over' }, { code: 'guest.over' }])
  })

  it('takes verdicts that came before the number of the round', async () => {
    const { thread } = await scripted((message) =>
      isRound(message) ? [verdicts(8, 'allow', 'allow'), started(message.key, 8)] : [],
    )
    const result = await thread().afterModel(answerOf(request, both))
    expect(result.map(({ verdict }) => verdict)).toEqual(['allow', 'allow'])
  })

  it('takes no answer to another of its claims on the round', async () => {
    const script = (message: Written) =>
      isRound(message) ? [started(message.key), verdicts(1, 'allow', 'allow')] : []
    const { thread } = await scripted(script, ({ type: _, ...claim }) => [
      { type: 'guest-claimed', ...claim, claim: 'of the look before', ordinals: [0] },
      { type: 'guest-claimed', ...claim },
    ])
    const result = await thread().afterModel(answerOf(request, both))
    expect(result.map(({ verdict }) => verdict)).toEqual(['allow', 'allow'])
  })

  it('returns after waitMs with the calls that wait, and with their approval', async () => {
    const { thread } = await scripted((message) =>
      isRound(message)
        ? [
            started(message.key),
            {
              type: 'approval-pending',
              conversation,
              turn: 0,
              round: 1,
              until: 99,
              calls: [pendingCall],
            },
            verdicts(1, 'allow', { verdict: 'pending', code: 'approval' }),
          ]
        : [],
    )
    const guest = thread()
    let result = await guest.afterModel(answerOf(request, both), { waitMs: 0 })
    while (result[0]?.verdict === 'pending')
      result = await guest.afterModel(answerOf(request, both), { waitMs: 20 })
    expect(result).toMatchObject([
      { verdict: 'allow' },
      {
        verdict: 'pending',
        code: 'approval.pending',
        approval: { id: 'a1', hash: 'h', until: 99 },
      },
    ])
  })

  it('returns the calls as waiting if the stage is silent and the caller asks again', async () => {
    const { thread } = await scripted(() => [])
    const result = await thread().afterModel(answerOf(request, both), { waitMs: 0 })
    const waits = expect.objectContaining({ verdict: 'pending', code: 'guest.pending' })
    expect(result).toEqual([waits, waits])
  })

  it('refuses the calls and reports them as not run if the stage is silent', async () => {
    const { written, thread } = await scripted(() => [])
    const result = await thread({ waitMs: 20 }).afterModel(answerOf(request, both))
    expect(result).toMatchObject([
      { verdict: 'deny', code: 'guest.unavailable' },
      { verdict: 'deny', code: 'guest.unavailable' },
    ])
    await seen(written, 2)
    expect(written[1]).toMatchObject({
      phase: 'running',
      results: [
        { callId: 'call_0', status: 'skipped' },
        { callId: 'call_1', status: 'skipped' },
      ],
    })
  })

  it('reports a call that waited as not run, and leaves one that another front owns to it', async () => {
    const script = (message: Written) =>
      isRound(message) ? [started(message.key), verdicts(1, 'allow', 'pending')] : []
    const { written, thread } = await scripted(script, ({ type: _, ...claim }) => [
      { type: 'guest-claimed', ...claim, ordinals: [] },
    ])
    const result = await thread({ waitMs: 300 }).afterModel(answerOf(request, both))
    expect(result).toMatchObject([{ code: 'guest.repeated' }, { verdict: 'deny' }])
    await seen(written, 2)
    expect((written[1] as GuestResults).results).toMatchObject([
      { callId: 'call_1', status: 'skipped' },
    ])
  })

  it('lets the calls run if the stage is silent and the guest may go on', async () => {
    const { thread } = await scripted(() => [])
    const options = { blocking: false, waitMs: 20 }
    const result = await thread(options).afterModel(answerOf(request, both))
    expect(result.map(({ verdict }) => verdict)).toEqual(['allow', 'allow'])
  })

  it('reports the calls as not run when the client has gone', async () => {
    const { written, thread } = await scripted((message) =>
      isRound(message) ? [started(message.key), verdicts(1, 'pending', 'pending')] : [],
    )
    const stop = new AbortController()
    const result = thread().afterModel(answerOf(request, both), { signal: stop.signal })
    await seen(written, 1)
    stop.abort(new Error('gone'))
    await expect(result).rejects.toThrow('gone')
    await seen(written, 2)
    expect(written[1]).toMatchObject({ results: [{ status: 'skipped' }, { status: 'skipped' }] })
  })

  it('lets no call of a round that is over run without its verdict, and has the texts of refused calls', async () => {
    const { thread } = await scripted((message) =>
      isRound(message)
        ? [
            advice({
              key: message.key,
              denied: [
                { ordinal: 1, callId: 'call_1', text: 'No.', code: 'unknown-tool', guard: '' },
              ],
            }),
          ]
        : [],
    )
    expect(await thread().afterModel(answerOf(request, both))).toMatchObject([
      { verdict: 'deny', code: 'guest.over' },
      { verdict: 'deny', text: 'No.', code: 'call.denied', reason: 'unknown-tool' },
    ])
  })

  it('refuses a call that waited until the end of its round', async () => {
    const { thread } = await scripted((message) =>
      isRound(message)
        ? [
            started(message.key),
            verdicts(1, 'allow', { verdict: 'pending', code: 'shell' }),
            advice({ key: message.key, round: 1 }),
          ]
        : [],
    )
    const result = await thread().afterModel(answerOf(request, both))
    expect(result.map(({ verdict }) => verdict)).toEqual(['allow', 'deny'])
  })

  it('refuses the calls of a round that the stage does not count', async () => {
    const { thread } = await scripted((message) =>
      isRound(message) ? [advice({ key: message.key, isOpen: false, reason: 'stopped' })] : [],
    )
    expect(await thread().afterModel(answerOf(request, both))).toMatchObject([
      { verdict: 'deny', text: 'Not run: stopped', code: 'guest.over' },
      { verdict: 'deny' },
    ])
  })

  it('writes a response without calls, and waits for nothing', async () => {
    const { written, thread } = await scripted(() => [])
    expect(await thread().afterModel(answerOf(request, saidText('Done.')))).toEqual([])
    await seen(written, 1)
    expect(written[0]).toMatchObject({ type: 'guest-round', response: { text: 'Done.' } })
  })
})

describe('a front that hides refused rounds', () => {
  it('counts them in the next key, and names them in its own repeat of a request', async () => {
    const refusedOnce = new Set<string>()
    const { written, thread } = await scripted((message) => {
      if (!isRound(message)) {
        const hidden = [...refusedOnce].map((key) => ({ hash: key.slice(0, -2), count: 1 }))
        return [advice({ requestId: message.requestId, hidden })]
      }
      if (refusedOnce.size > 0) return [started(message.key, 2), verdicts(2, 'allow')]
      refusedOnce.add(message.key)
      return [started(message.key), verdicts(1, { text: 'No.' })]
    })
    const guest: GuestConversation = thread({ hides: true })
    const request = asked([])
    const answer = answerOf(request, read(0))
    await guest.beforeModel(request)
    expect(await guest.afterModel(answer)).toMatchObject([{ verdict: 'deny' }])
    await guest.beforeModel(request)
    expect(await guest.afterModel(answer)).toMatchObject([{ verdict: 'allow' }])
    const [first, second] = written.filter(isRound)
    expect([first?.key.slice(-2), second?.key.slice(-2)]).toEqual(['.1', '.2'])
    expect(written[2]).toMatchObject({ phase: 'before_model', hiddenKeys: [first?.key] })
  })

  it('sends unknown rounds again under keys that count the hidden ones', async () => {
    let shown: string | undefined
    const { written, thread } = await scripted((message) => {
      if (isRound(message)) return [advice({ key: message.key })]
      if (message.phase !== 'before_model') return []
      const [key = ''] = message.keys
      const hash = key.slice(0, -2)
      const unknown = shown === undefined ? [`${hash}.3`] : []
      shown = key
      return [advice({ requestId: message.requestId, unknown, hidden: [{ hash, count: 2 }] })]
    })
    const result = await thread({ hides: true }).beforeModel(asked([read(0)]))
    expect(result.judged).toBe(true)
    const [round] = written.filter(isRound)
    expect([shown?.slice(-2), round?.key.slice(-2)]).toEqual(['.1', '.3'])
    expect(written[2]).toMatchObject({ phase: 'running', results: [{ key: round?.key }] })
  })
})

describe('a front without a policy', () => {
  it('ends its listening with each request that it cannot judge', async () => {
    let listening = 0
    const front = createFront({
      blocking: true,
      agent: { name: 'coder', settings: defaultGuestSettings },
      link: {
        clock: systemClock,
        turns: openTurns(systemClock),
        async listen() {
          listening += 1
          return () => {
            listening -= 1
          }
        },
        async write() {},
      },
      policy: () => Promise.reject(new Error('no policy')),
    })
    const turn = { conversation, turnKey: 'u1', user: null }
    const wait = { waitMs: waitMaxMs }
    const round = {
      key: 'k.1',
      after: null,
      offered: [],
      declarations: [],
      response: emptyResponse(ended),
    }
    await expect(front.beforeModel(turn, { rounds: [] }, wait)).rejects.toThrow('no policy')
    await expect(front.proposeRound(turn, round, wait)).rejects.toThrow('no policy')
    expect(listening).toBe(0)
  })
})

describe('reports of hooks', () => {
  it('name the round of a call that this front has sent, and the turn of the newest request', async () => {
    const { written, thread } = await scripted((message) =>
      isRound(message) ? [started(message.key), verdicts(1, 'allow')] : [],
    )
    const guest = thread({ turn: 'prompt-1' })
    await guest.afterModel(answerOf(asked([]), read(0)))
    await guest.reportResults([
      { callId: 'call_0', status: 'ok', text: 'fine' },
      { callId: 'elsewhere', nth: 1, status: 'unknown', text: '' },
    ])
    await guest.endTurn()
    await seen(written, 3)
    const [round, results, end] = written
    expect(round).toMatchObject({ turnKey: 'prompt-1', user: 'Go.' })
    expect(results).toMatchObject({
      turnKey: 'prompt-1',
      user: 'Go.',
      phase: 'running',
      results: [
        { key: (round as GuestRound).key, callId: 'call_0', nth: 0, status: 'ok', text: 'fine' },
        { key: '', callId: 'elsewhere', nth: 1, status: 'unknown' },
      ],
    })
    expect(end).toMatchObject({ phase: 'turn_end', turnKey: 'prompt-1', results: [] })
  })
})

describe('the end of a turn', () => {
  it('names the newest turn if its object has seen no request', async () => {
    const { written, threads } = await scripted((message) =>
      isRound(message) ? [] : [advice({ requestId: message.requestId })],
    )
    const thread = threads()
    await thread().beforeModel(asked([]))
    await thread().endTurn()
    await thread({ turn: 'run-1' }).finishTurn()
    await seen(written, 3)
    expect(written.slice(1)).toMatchObject([
      { phase: 'turn_end', turnKey: newestTurn, answered: false },
      { phase: 'turn_end', turnKey: 'run-1', answered: true },
    ])
  })

  it('names the turn of its own request, also after a request of the next turn', async () => {
    const { written, threads } = await scripted((message) =>
      isRound(message) ? [] : [advice({ requestId: message.requestId })],
    )
    const thread = threads()
    const first = thread()
    await first.beforeModel(asked([]))
    await thread().beforeModel(requestOf('anthropic', [{ user: 'Next.', responses: [] }]))
    await first.endTurn()
    await seen(written, 3)
    const [one, two, end] = written
    expect(end).toMatchObject({ phase: 'turn_end', turnKey: one?.turnKey })
    expect(one?.turnKey).not.toBe(two?.turnKey)
  })
})

const ended = {
  attempt: 'k.1',
  stop: 'end',
  finish: 'stop',
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
} as const

const pendingCall = {
  ordinal: 1,
  name: 'read',
  arguments: '{}',
  id: 'a1',
  hash: 'h',
  rule: 'r',
  source: null,
  program: null,
  question: null,
} as const

/** Once the stage has read this many records. */
async function seen(written: Written[], count: number): Promise<void> {
  const until = Date.now() + waitMaxMs
  while (written.length < count && Date.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 1))
}
