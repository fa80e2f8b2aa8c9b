// The events of records from before the start of a server.

import { expect, it } from '@jest/globals'
import { type WebhookEvent, webhookEvents } from '../../../../apps/http/webhook/webhook-events.ts'
import { webhookFeed } from '../../../../apps/http/webhook/webhook-feed.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { ApprovalDecided, ApprovalPending } from '../../../../shared/contract/messages.ts'

const now = Date.parse('2026-11-24T12:00:00Z')
const hourMs = 3_600_000

function pending(turn: number): ApprovalPending {
  const call = { ordinal: 0, id: `id-${turn}`, name: 'pay', rule: 'money', question: null }
  return {
    type: 'approval-pending',
    conversation: 'c',
    turn,
    round: 1,
    until: now + hourMs,
    calls: [call as ApprovalPending['calls'][number]],
  } as ApprovalPending
}

function decided(turn: number): ApprovalDecided {
  return {
    type: 'approval-decided',
    conversation: 'c',
    turn,
    round: 1,
    ordinal: 0,
    name: 'pay',
    id: `id-${turn}`,
    outcome: 'allow',
    by: 'ada',
    reason: '',
    waitedMs: 1,
    identity: 'claimed',
  } as ApprovalDecided
}

it('a call that still waits is sent, however many earlier calls were decided', () => {
  const sent: WebhookEvent[] = []
  const feed = webhookFeed({ send: (event) => void sent.push(event) }, { now: () => now })
  const early = { agent: 'a', time: now - 2 * hourMs }
  feed.add(pending(0), early)
  for (let turn = 1; turn <= limits.webhookQueueMax; turn += 1) {
    feed.add(pending(turn), early)
    feed.add(decided(turn), early)
  }
  feed.add(pending(-1), { agent: 'a', time: now })
  feed.add(decided(-1), { agent: 'a', time: now })
  expect(sent).toEqual([])
  feed.caughtUp()
  expect(sent.map(({ type, data }) => [type, data.id])).toEqual([
    ['approval.pending', 'id-0'],
    ['approval.allow', 'id--1'],
  ])
})

it('a question of a tool is an event next to the approval of its call, without its text', () => {
  const about = { agent: 'a', time: now }
  const [call] = pending(1).calls
  const asked = { ...call, id: 'q', rule: 'the server s asks: PIN?', question: '{}' }
  const question = { ...pending(1), calls: [asked] } as ApprovalPending
  const [first] = webhookEvents(pending(1), about)
  const [second] = webhookEvents(question, about)
  expect(second?.data).toMatchObject({ id: 'q', name: 'pay', rule: 'question' })
  expect(second?.id).not.toBe(first?.id)
})
