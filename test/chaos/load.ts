// The load: clients that talk to the agent through the edge, many conversations at once. Some
// cancel, some send the next message before the last one is answered, some send a message again;
// one whose turn does not end in time, or whose connection broke, asks again under the same id, as
// a client would.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Edge } from '../../client/edge.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import type { Random } from '../simulation/random.ts'
import type { Sent } from './evidence.ts'
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
  /** Times that a client asked again because it heard nothing, or only an error. */
  asksAgain(): number
  answered(): number
  /** No further message; resolves when all are answered, or after `drainMs`. True: all are. */
  drain(drainMs: number): Promise<boolean>
}

/** After which a client that heard nothing asks again. */
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
      open.push(say(conversation, `m${i}`, dice.fork(`${conversation}/${i}`)))
      if (!dice.chance(0.25)) await Promise.all(open) // else the next message has to wait in the queue
    }
    await Promise.all(open)
  }

  async function say(conversation: string, messageId: string, dice: Random): Promise<void> {
    const refusable = dice.chance(0.02)
    const message: Sent = {
      conversation,
      messageId,
      taken: false,
      refusable,
      cancelled: false,
      heard: undefined,
    }
    sent.push(message)
    const others: Promise<void>[] = []
    if (dice.chance(0.12)) others.push(later(dice.between(0, 3_000), () => cancel(message)))
    if (dice.chance(0.12)) others.push(later(dice.between(0, 2_500), () => repeat(message)))
    await Promise.all([ask(message), ...others])
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

  async function ask(message: Sent): Promise<void> {
    for (let tries = 0; !over.signal.aborted; tries++) {
      if (tries > 0) again += 1
      try {
        const earlier = tries > 0 ? await edge.earlierAnswer(message) : undefined
        const patience = AbortSignal.any([AbortSignal.timeout(patienceMs), over.signal])
        const { outcome, reply } = earlier ?? (await edge.reply(questionOf(message), patience))
        message.taken = true
        message.heard = { outcome, reply }
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
    message.cancelled = true // before it is written: a write that failed may be in the log all the same
    await edge.cancel(message)
  }

  /** What fails here is the client's own loss; it asks again anyway. */
  async function later(delayMs: number, act: () => Promise<void>): Promise<void> {
    await sleep(delayMs)
    await act().catch(() => {})
  }

  return {
    sent,
    asksAgain: () => again,
    answered: () => answered,
    async drain(drainMs) {
      isStopping = true
      const late = new AbortController()
      const isDrained = await Promise.race([
        running.then(() => true),
        sleep(drainMs, false, { signal: late.signal }).catch(() => false),
      ])
      late.abort()
      over.abort()
      return isDrained
    },
  }
}
