// Guests: scripted agents that own their model and their tools. They repeat calls under the same
// ids, retry requests through the other front, interrupt themselves, vanish, and fork. Their fronts
// are observing, blocking, or blocking and hiding refused rounds.

import type { GuestConversation, GuestFormat } from '../../../client/guard/guest-conversation.ts'
import { historyOf } from '../../../client/guard/history/history.ts'
import type { Declaration } from '../../../shared/contract/messages.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { guestConversation } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import { formatNames } from '../../../shared/wire/formats.ts'
import {
  answerOf,
  requestOf,
  type Said,
  saidText,
  type Turn,
} from '../../support/guest-requests.ts'
import type { Broker } from '../broker.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import type { FrontProcess, Fronts } from './fronts.ts'
import type { Ledger } from './ledger.ts'

export type GuestsOptions = {
  ledger: Ledger
  random: Random
  scheduler: Scheduler
  broker: Broker
  fronts: Fronts
  agent: string
  tools: Declaration[]
  topicPrefix: string
  partitions: number
  durationMs: Milliseconds
}

type Mode = 'observing' | 'blocking' | 'hiding'

/** One agent loop. A fork is a second one with the same id and the history up to then. */
type Guest = {
  id: string
  conversation: string
  mode: Mode
  format: GuestFormat
  turns: { user: string; responses: Said[] }[]
  random: Random
  isForked: boolean
}

type Call = Said['calls'][number]

const gaveUp = Symbol('gave up')
const retriesMax = 6
const roundsMax = 8

export function startGuests(options: GuestsOptions): { readonly running: number } {
  const { ledger, random, scheduler, broker, fronts, agent, tools, topicPrefix, partitions } =
    options
  const start = scheduler.now()
  let running = 0
  let results = 0
  const count = random.between(1, 3)
  for (let g = 0; g < count; g++) {
    const own = random.fork(`guest ${g}`)
    const guest: Guest = {
      id: `g${g}`,
      conversation: guestConversation(agent, `g${g}`),
      mode: own.pick(['observing', 'observing', 'blocking', 'hiding']),
      format: own.pick(formatNames),
      turns: [],
      random: own,
      isForked: false,
    }
    scheduler.at(start + own.below(options.durationMs / 2), () => begin(guest, own.between(1, 3)))
    if (own.chance(0.1))
      scheduler.at(start + own.below(options.durationMs), () => cancel(guest.conversation))
  }
  return {
    get running() {
      return running
    },
  }

  function begin(guest: Guest, turns: number): void {
    running += 1
    const ended = () => {
      running -= 1
    }
    live(guest, turns).then(ended, (error: unknown) => {
      ledger.guests.failures.push(error)
      ended()
    })
  }

  async function live(guest: Guest, turns: number): Promise<void> {
    const { random } = guest
    for (let t = 0; t < turns; t++) {
      guest.turns.push({ user: `do ${guest.turns.length}`, responses: [] })
      for (let round = 0; ; round++) {
        if (random.chance(0.03)) return // it vanishes
        if (random.chance(0.02) && !guest.isForked) fork(guest)
        const how = await oneRound(guest, round >= roundsMax)
        if (how === 'vanished') return
        if (how === 'over' && !random.chance(0.05)) break
        if (how === 'interrupted') break
        if (round > 2 * roundsMax) break
      }
      if (random.chance(0.3)) await endTurn(guest)
      await sleep(
        random.weighted([
          [3, random.below(2000)],
          [1, random.below(60_000)],
        ]),
      )
    }
  }

  function fork(guest: Guest): void {
    guest.isForked = true
    const turns = guest.turns.map(({ user, responses }) => ({ user, responses: [...responses] }))
    begin({ ...guest, turns, random: guest.random.fork('fork') }, 1)
  }

  async function oneRound(
    guest: Guest,
    isLast: boolean,
  ): Promise<'on' | 'over' | 'interrupted' | 'vanished'> {
    const { random, mode } = guest
    const turn = guest.turns.at(-1) as Guest['turns'][number]
    for (let tries = 0; tries < retriesMax; tries++) {
      const front = fronts.at(random.pick([0, 1]))
      if (!front.isAlive) {
        await sleep(1000)
        continue
      }
      const stop = new AbortController()
      const conversation = conversationAt(front, guest)
      const made = await attempt(guest, { front, conversation, stop, isLast })
      if (made === gaveUp) {
        if (random.chance(0.5)) stop.abort()
        continue
      }
      turn.responses.push(made)
      if (made.calls.length === 0) return 'over'
      return mode !== 'hiding' && random.chance(0.03) ? 'interrupted' : 'on'
    }
    return 'vanished'
  }

  /** A request of the guest, and its own repeats of hidden rounds. */
  async function attempt(
    guest: Guest,
    {
      front,
      conversation,
      stop,
      isLast,
    }: {
      front: FrontProcess
      conversation: GuestConversation
      stop: AbortController
      isLast: boolean
    },
  ): Promise<Said | typeof gaveUp> {
    const { random, mode } = guest
    const request = requestOf(guest.format, guest.turns as Turn[], tools)
    const { turnKey, rounds } = historyOf(request)
    const { signal } = stop
    for (let hidden = 0; ; hidden++) {
      const advice = await patient(
        conversation.beforeModel(request, signal),
        random.chance(0.1) ? random.between(100, 3000) : 30_000,
      )
      if (advice === gaveUp || !front.isAlive) return gaveUp
      if (!advice.judged && mode !== 'observing') {
        await sleep(1000)
        return gaveUp
      }
      ledger.guests.asked.push({
        conversation: guest.conversation,
        turnKey,
        mode,
        isForked: guest.isForked,
        keys: rounds.map(({ key }) => key),
        time: scheduler.now(),
        action: advice.action,
        judged: advice.judged,
      })
      if (advice.action === 'end') return saidText('Weir has ended it.')
      const said = isLast || hidden >= 3 ? saidText('done') : script(guest, advice.action)
      const answer = answerOf(request, said)
      await sleep(random.between(1, 2000)) // the model
      if (mode === 'observing') {
        conversation.afterModel(answer, { waitMs: 0, signal }).catch(() => {})
        await runAll(guest, { said, turnKey, signal, judged: false })
        return said
      }
      const verdicts = await patient(
        conversation.afterModel(answer, { signal }),
        random.chance(0.1) ? random.between(100, 20_000) : 2 * 120_000,
      )
      if (verdicts === gaveUp || !front.isAlive) return gaveUp
      // Some formats list calls with broken arguments last, so the ids decide.
      const places = said.calls.map((call) => {
        const same = verdicts.flatMap(({ callId }, at) => (callId === call.id ? [at] : []))
        return same[said.calls.filter(({ id }) => id === call.id).indexOf(call)] ?? -1
      })
      const runs = places.map((at) => verdicts[at]?.verdict === 'allow')
      if (mode === 'hiding' && runs.includes(false)) continue
      for (const [i, call] of said.calls.entries())
        if (!runs[i])
          setResult(call, { text: verdicts[places[i] ?? -1]?.text ?? '', isError: true })
      await runAll(guest, { said, turnKey, signal, judged: true, runs, places })
      return said
    }
  }

  async function runAll(
    guest: Guest,
    {
      said,
      turnKey,
      signal,
      judged,
      runs,
      places,
    }: {
      said: Said
      turnKey: string
      signal: AbortSignal
      judged: boolean
      runs?: boolean[]
      places?: number[]
    },
  ): Promise<void> {
    const { random, conversation } = guest
    const key = ledger.guests.proposed.findLast((round) => round.signal === signal)?.key
    await Promise.all(
      said.calls.map(async (call, ordinal) => {
        if (runs !== undefined && !runs[ordinal]) return
        const text = random.chance(0.3) ? 'the same' : `result ${++results} of ${conversation}`
        ledger.guests.runs.push({
          conversation,
          at: scheduler.now(),
          text,
          call: {
            turnKey,
            key,
            ordinal: places?.[ordinal] ?? ordinal,
            callId: call.id,
            sent: call.arguments,
            isJudged: judged,
            isForked: guest.isForked,
          },
        })
        await sleep(
          random.weighted([
            [4, random.below(500)],
            [1, random.below(20_000)],
          ]),
        )
        setResult(call, { text, isError: random.chance(0.4) })
        if (random.chance(0.1)) await reportEarly(guest, said, call)
      }),
    )
  }

  /** A hook reports the result through any front. */
  async function reportEarly(guest: Guest, said: Said, call: Call): Promise<void> {
    const front = fronts.at(guest.random.pick([0, 1]))
    if (!front.isAlive || typeof call.result !== 'object') return
    const nth = said.calls.filter(({ id }) => id === call.id).indexOf(call)
    const { text, isError } = call.result
    const status = isError ? 'error' : 'ok'
    await patient(
      conversationAt(front, guest).reportResults([{ callId: call.id, nth, status, text }]),
      5000,
    )
  }

  async function endTurn(guest: Guest): Promise<void> {
    const front = fronts.at(guest.random.pick([0, 1]))
    if (front.isAlive) await patient(conversationAt(front, guest).endTurn(), 5000)
  }

  function conversationAt(front: FrontProcess, { mode, conversation }: Guest): GuestConversation {
    if (mode === 'observing') return front.observing(conversation, {})
    return front.blocking(conversation, { hides: mode === 'hiding' })
  }

  /** Mostly the same calls again, under the same ids. */
  function script({ random }: Guest, action: string): Said {
    if (action === 'text_only' ? !random.chance(0.1) : random.chance(0.1)) return saidText('done')
    const call = (id: string): Call => ({
      id,
      name: random.weighted([
        [6, 'read'],
        [2, 'send'],
        [1, 'nothing'],
      ]),
      arguments: random.weighted([
        [6, '{"path":"a"}'],
        [2, `{"path":"${random.below(3)}"}`],
        [1, '{}'],
        [1, '{bad'],
      ]),
      result: undefined,
    })
    const ids = random.weighted<string[]>([
      [6, ['call_1']],
      [1, [`call_${random.below(1000)}`]],
      [2, ['call_1', 'call_2']],
      [1, ['call_1', 'call_1']],
    ])
    const [first, second] = ids
    // Two broken calls under one id would look the same in every format, and two equal ones
    // count as one call.
    if (first !== undefined && first === second) {
      const sent = (path: string): Call => ({
        id: first,
        name: 'read',
        arguments: JSON.stringify({ path }),
        result: undefined,
      })
      return { text: '', calls: [sent('a'), sent('b')] }
    }
    return { text: '', calls: ids.map(call) }
  }

  function cancel(conversation: string): void {
    const message = { type: 'cancel-requested' as const, conversation, messageId: '' }
    const partition = partitionOf(conversation, partitions)
    broker.land([toRecord({ topic: `${topicPrefix}client-messages`, partition, message })])
  }

  function sleep(ms: Milliseconds): Promise<void> {
    return new Promise((resolve) => {
      scheduler.at(scheduler.now() + Math.max(1, ms), resolve)
    })
  }

  /** A dead front never answers, so every wait has an end. */
  async function patient<T>(answer: Promise<T>, ms: Milliseconds): Promise<T | typeof gaveUp> {
    const none = (): typeof gaveUp => gaveUp
    return Promise.race<T | typeof gaveUp>([answer.catch(none), sleep(ms).then(none)])
  }
}

function setResult(call: Call, result: { text: string; isError: boolean }): void {
  ;(call as { result: Call['result'] }).result = result
}
