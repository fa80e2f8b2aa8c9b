// The events of the webhook: calls that wait for a person, the end of that wait, and soft budgets.
// Pure.
// An event has no arguments, no text of a model, tool or user, and no reason. It has
// ids, names and times only.
// Its id is a hash of the record's place, so each server, also after a restart, gives
// the same id. Receivers drop repeats by it, as Standard Webhooks describes.

import { hash } from 'node:crypto'
import type { ApprovalOutcome, Message } from '../../../shared/contract/messages.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'

/** The body is `{ type, timestamp, data }`. `timestamp`: the append time of the record, in ISO 8601. */
export type WebhookEvent = {
  id: string
  type: `approval.${'pending' | ApprovalOutcome}` | 'budget.reached'
  timestamp: string
  data: Record<string, string | number | null>
}

/** `agent`: of the turn. Empty: the record raises no event. */
export function webhookEvents(
  message: Message,
  { agent, time }: { agent: string; time: Milliseconds },
): WebhookEvent[] {
  switch (message.type) {
    case 'approval-pending': {
      const { conversation, turn, round, until } = message
      // The rule of a question has the message of its server.
      return message.calls.map(({ ordinal, id, name, rule, question }) =>
        eventOf('approval.pending', [conversation, turn, round, ordinal, id], time, {
          id,
          conversation,
          agent,
          round,
          name,
          rule: question === null ? rule : 'question',
          until: new Date(until).toISOString(),
        }),
      )
    }
    case 'approval-decided': {
      const { conversation, turn, round, ordinal, id, name, outcome, by, identity } = message
      const isPerson = outcome === 'allow' || outcome === 'deny'
      return [
        eventOf(`approval.${outcome}`, [conversation, turn, round, ordinal, id], time, {
          id,
          conversation,
          agent,
          round,
          name,
          by: isPerson ? by : null,
          identity: isPerson ? identity : null,
        }),
      ]
    }
    case 'budget-reached': {
      const { conversation, turn, round, tenant, budget, used } = message
      return [
        eventOf('budget.reached', [conversation, turn, round, budget.id], time, {
          budget: budget.id,
          tenant,
          subject: budget.subject,
          window: budget.window,
          unit: budget.unit,
          soft: budget.soft,
          hard: budget.hard,
          used,
          conversation,
        }),
      ]
    }
    default:
      return []
  }
}

function eventOf(
  type: WebhookEvent['type'],
  place: (string | number)[],
  time: Milliseconds,
  data: WebhookEvent['data'],
): WebhookEvent {
  const id = `evt_${hash('sha256', JSON.stringify([type, ...place])).slice(0, 32)}`
  return { id, type, timestamp: new Date(time).toISOString(), data }
}
