// The ways by which a guest reaches Weir, as drivers that show it the same transcripts. The stages run
// once, on a log in memory or without a log. core.int.test.ts and fronts.int.test.ts have the drivers.

import pino from 'pino'
import type { Scenario } from '../../apps/replay/judge/scenario.ts'
import type { GuardOptions } from '../../client/guard/guard-options.ts'
import type {
  GuardSession,
  GuestConversation,
  GuestRequest,
} from '../../client/guard/guest-conversation.ts'
import { stagesOfGuests } from '../../client/guard/log/bus-front.ts'
import { frontsOn } from '../../client/guard/log/fronts.ts'
import { frontInMemory, openMemoryStages } from '../../client/guard/memory/open-memory.ts'
import { startStages } from '../../services/stages.ts'
import { defaultGuestSettings, type GuestHints } from '../../shared/agents/guest.ts'
import { defaultPolicy, policyOf } from '../../shared/agents/policy/policy.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { isGuest } from '../../shared/contract/topology.ts'
import { type Clock, systemClock } from '../../shared/lib/clock.ts'
import { foldFrom } from '../../shared/runtime/log/position.ts'
import type { Transcript } from '../../shared/transcript/transcript.ts'
import type { IntervenedAt } from '../support/traces.ts'
import { waitMaxMs } from '../support/wait-limit.ts'

export type Driver = {
  name: string
  /** The trace with the facts that this way shows. Default: all. */
  shows?: (scenario: Scenario) => Scenario
  /** The first intervention of this action ends the run. */
  endsAt?: 'end'
  /** Why it cannot show this transcript. Undefined: it can. */
  leavesOut?: (transcript: Transcript) => string | undefined
  /**
   * Shows a transcript to the end, and waits until its last round is judged. `guards`: two fronts on
   * the same log. `thread`: the id of the conversation.
   */
  drive(guards: [GuardSession, GuardSession], transcript: Transcript, thread: string): Promise<void>
}

export type ParityWorld = {
  /** Two fronts that only observe by default. `hints`: of the tools. */
  guards(hints: Record<string, GuestHints>, options?: FrontOptions): [GuardSession, GuardSession]
  /**
   * The interventions in the conversation of this thread, without ordinary ones. `at`: the calls and
   * the responses without calls up to its round, in the whole conversation.
   */
  interventions(thread: string): Promise<IntervenedAt[]>
  close(): Promise<void>
}

type FrontOptions = Pick<GuardOptions, 'mode' | 'record'>

const topicPrefix = 'weir.'
const partitions = 1
const agent = 'guest'

const { caps } = defaultGuestSettings.policy
const { version: _, ...content } = defaultPolicy
const settings = { ...defaultGuestSettings, policy: policyOf({ ...content, caps }) }

/** A rule judges how fast an agent looks again, and no test may depend on the speed of the machine. */
const standingClock: Clock = { ...systemClock, now: () => 1_700_000_000_000 }

export async function openParityWorld(clock = standingClock): Promise<ParityWorld> {
  const log = pino({ level: 'silent' })
  const bus = await openEmbeddedBus({
    file: ':memory:',
    clock,
    keepFrom: foldFrom,
    log,
  })
  const stages = await startStages({
    bus,
    agents: new Map(),
    topicPrefix,
    partitions,
    log,
    names: stagesOfGuests,
  })
  const fronts = frontsOn({ bus, topicPrefix, partitions, log })
  const outcomes = outcomesOfGuests()
  let read = 0

  /** The records of guests since the last call. */
  async function readOn(): Promise<void> {
    const topic = `${topicPrefix}guest-events`
    const end = (await bus.ends(topic))[0]?.end ?? 0
    while (read < end) {
      const records = await bus.read({ topic, partition: 0, from: read, to: end, limit: 500 })
      for (const { value, offset } of records) {
        read = offset + 1
        outcomes.add(decode(value as Uint8Array))
      }
    }
  }

  function guardWith(
    hints: Record<string, GuestHints>,
    { mode = 'observing', record = 'all' }: FrontOptions,
  ): GuardSession {
    const { conversation } = fronts.front({
      mode,
      answerWithinMs: waitMaxMs,
      agent: { name: agent, settings, hints, record },
    })
    const close = async () => {}
    return { conversation, failed: stages.failed, close, [Symbol.asyncDispose]: close }
  }

  return {
    guards: (hints, options = {}) => [guardWith(hints, options), guardWith(hints, options)],

    async interventions(thread) {
      await readOn()
      return outcomes.interventions(thread)
    },

    async close() {
      fronts.close()
      await stages.close()
      await bus.close()
    },
  }
}

/** In order. `at`: as for `ParityWorld`. */
function interventionsIn(messages: readonly Message[]): IntervenedAt[] {
  let at = 0
  return messages.flatMap((message) => {
    if (message.type !== 'round-outcome') return []
    const { response, intervention } = message
    at += Math.max(1, response.calls.length)
    if (intervention === null || intervention.ordinary) return []
    const { rule, ruleVersion, action } = intervention
    return [{ at, rule: `${rule}@${ruleVersion}`, action }]
  })
}

/** Outcomes by conversation. */
function outcomesOfGuests() {
  const outcomes = new Map<ConversationId, Message[]>()
  return {
    add(message: Message): void {
      if (message.type !== 'round-outcome' || !isGuest(message.conversation)) return
      const known = outcomes.get(message.conversation) ?? []
      outcomes.set(message.conversation, [...known, message])
    },
    interventions: (thread: string) =>
      interventionsIn(outcomes.get(`guest:${agent}:${thread}`) ?? []),
  }
}

/** Without a log, as `openGuard` has it. */
export async function openMemoryWorld(clock = standingClock): Promise<ParityWorld> {
  const log = pino({ level: 'silent' })
  const { add, interventions } = outcomesOfGuests()
  const stages = openMemoryStages({ clock, log, observed: add })
  const guardWith = (
    hints: Record<string, GuestHints>,
    { mode = 'observing', record = 'all' }: FrontOptions,
  ): GuardSession => ({
    conversation: frontInMemory(stages, {
      mode,
      answerWithinMs: waitMaxMs,
      inForce: [],
      log,
      agent: { name: agent, settings, hints, record },
    }),
    failed: stages.failed,
    close: stages.close,
    [Symbol.asyncDispose]: stages.close,
  })
  return {
    guards: (hints, options = {}) => [guardWith(hints, options), guardWith(hints, options)],
    interventions: async (thread) => interventions(thread),
    close: stages.close,
  }
}

/** Throws if Weir does not judge the request. */
export async function judged(
  conversation: GuestConversation,
  request: GuestRequest,
): Promise<void> {
  const advice = await conversation.beforeModel(request)
  if (!advice.judged) throw new Error(`a request was not judged: ${advice.reason}`)
}
