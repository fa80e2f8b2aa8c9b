// The load: clients that talk to the agent through the edge, in many conversations at once. Some
// cancel, some send the next message before the last answer, some repeat a message. After a timeout
// or a broken connection a client sends the message again with its id.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Edge } from '../../client/edge/edge.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import type { Sent } from '../evidence/evidence.ts'
import type { Random } from '../simulation/random.ts'
import { replyOf } from '../support/asked-turn.ts'
import { endsWithin } from './ends-within.ts'
import { messageText } from './model.ts'

export type LoadOptions = {
  edge: Edge
  agent: Agent
  random: Random
  /** Conversations at once. */
  clients: number
}

export type Load = {
  readonly sent: Sent[]
  /** Repeats by clients that received no answer or only an error. */
  repeats(): number
  answered(): number
  /** Sends no more messages. Resolves when all have answers (true), or after `drainMs`. */
  drain(drainMs: number): Promise<boolean>
}

/** A client without an answer repeats its message after this time. */
const patienceMs = 45_000
const pauseMs = 500

export function startLoad({ edge, agent, random, clients }: LoadOptions): Load {
  const sent: Sent[] = []
  const over = new AbortController()
  let isStopping = false
  let again = 0
  let answered = 0

  const running = Promise.all(
    Array.from({ length: clients }, (_, client) => client).map((client) => talk(client)),
  )

  async function talk(client: number): Promise<void> {
    const dice = random.fork(`client-${client}`)
    await sleep(client * 50)
    for (let number = 0; !isStopping; number++) await converse(`c${client}-${number}`, dice)
  }

  async function converse(conversation: string, dice: Random): Promise<void> {
    const open: Promise<void>[] = []
    for (let i = 0; i < dice.between(1, 4) && !isStopping; i++) {
      open.push(sendMessage(conversation, `m${i}`, dice.fork(`${conversation}/${i}`)))
      // otherwise the next message has to wait in the queue
      if (!dice.chance(0.25)) await Promise.all(open)
    }
    await Promise.all(open)
  }

  async function sendMessage(conversation: string, messageId: string, dice: Random): Promise<void> {
    const refusable = dice.chance(0.02)
    const message: Sent = {
      conversation,
      messageId,
      taken: false,
      refusable,
      cancelled: false,
      answer: undefined,
    }
    sent.push(message)
    const others: Promise<void>[] = []
    if (dice.chance(0.12)) others.push(later(dice.between(0, 3_000), () => cancel(message)))
    if (dice.chance(0.12)) others.push(later(dice.between(0, 2_500), () => repeat(message)))
    await Promise.all([sendUntilAnswered(message), ...others])
  }

  function questionOf({ conversation, messageId, refusable }: Sent) {
    const settings = refusable ? { ...agent.settings, attempts: 0 } : agent.settings
    return {
      agent: { ...agent, settings },
      conversation,
      messageId,
      text: messageText({ conversation, messageId }),
    }
  }

  async function sendUntilAnswered(message: Sent): Promise<void> {
    for (let tries = 0; !over.signal.aborted; tries++) {
      if (tries > 0) again += 1
      try {
        const earlier = tries > 0 ? await edge.earlierAnswer(message) : undefined
        const patience = AbortSignal.any([AbortSignal.timeout(patienceMs), over.signal])
        const { outcome, reply } =
          earlier?.finished ?? (await replyOf(edge, questionOf(message), patience))
        message.taken = true
        message.answer = { outcome, reply }
        answered += 1
        return
      } catch {
        await sleep(pauseMs)
      }
    }
  }

  async function repeat(message: Sent): Promise<void> {
    await edge.send(questionOf(message))
    message.taken = true
  }

  async function cancel(message: Sent): Promise<void> {
    message.cancelled = true // before the write: a failed write may still be in the log
    await edge.cancel(message)
  }

  /** An error here affects only this client, which sends the message again anyway. */
  async function later(delayMs: number, act: () => Promise<void>): Promise<void> {
    await sleep(delayMs)
    await act().catch(() => {})
  }

  return {
    sent,
    repeats: () => again,
    answered: () => answered,
    async drain(drainMs) {
      isStopping = true
      const isDrained = await endsWithin(running, drainMs)
      over.abort()
      return isDrained
    },
  }
}
