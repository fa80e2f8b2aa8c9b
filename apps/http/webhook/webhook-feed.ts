// The records that become events of the webhook. A server begins with the records of the last day.
// Of the records before its start, it sends calls that still wait, and events of the
// last `webhookLateMs`. So a restart leaves no gap, and old events stay old.

import { limits } from '../../../shared/contract/limits.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import type { Webhook } from './webhook.ts'
import { webhookLateMs } from './webhook.ts'
import { type WebhookEvent, webhookEvents } from './webhook-events.ts'

export type WebhookFeed = {
  add(message: Message, about: { agent: string; time: Milliseconds }): void
  /** All records before the start are added. Later events are sent at once. */
  caughtUp(): void
}

/** An event that will be sent, unless a later record ends its wait. */
type Held = { event: WebhookEvent; conversation: string; turn: number; until: Milliseconds | null }

export function webhookFeed(
  webhook: Pick<Webhook, 'send'>,
  clock: Pick<Clock, 'now'>,
): WebhookFeed {
  const startedAt = clock.now()
  let held: Held[] | undefined = []

  function hold(all: Held[], message: Message, about: Parameters<WebhookFeed['add']>[1]): void {
    if (!('turn' in message) || typeof message.turn !== 'number') return
    const { conversation, turn } = message
    const until = message.type === 'approval-pending' ? message.until : null
    const isDue = until === null ? about.time >= startedAt - webhookLateMs : until > startedAt
    if (!isDue) return
    for (const event of webhookEvents(message, about))
      all.push({ event, conversation, turn, until })
    if (all.length > limits.webhookQueueMax) all.splice(0, all.length - limits.webhookQueueMax)
  }

  return {
    add(message, about) {
      if (held === undefined) {
        for (const event of webhookEvents(message, about)) webhook.send(event)
        return
      }
      if (message.type === 'approval-decided' || message.type === 'turn-finished')
        held = held.filter((one) => !isOver(one, message))
      hold(held, message, about)
    },
    caughtUp() {
      for (const { event } of held ?? []) webhook.send(event)
      held = undefined
    },
  }
}

type End = Extract<Message, { type: 'approval-decided' | 'turn-finished' }>

/** Whether the held call waits no longer. */
function isOver({ event, conversation, turn, until }: Held, end: End): boolean {
  if (until === null || conversation !== end.conversation || turn !== end.turn) return false
  return end.type === 'turn-finished' || event.data.id === end.id
}
