// The invariants at the end of every test, for any input. Users, providers and operators rely on
// them.

import { expect } from '@jest/globals'
import { decode } from '../../shared/codec/codec.ts'
import { limits } from '../../shared/contract/limits.ts'
import type {
  CallResult,
  HistoryEntry,
  Message,
  TurnFinished,
  UserMessage,
} from '../../shared/contract/messages.ts'
import { type TopicName, topics } from '../../shared/contract/topology.ts'
import { shortened } from '../../shared/lib/text-cut.ts'
import type { Pipeline } from './pipeline.ts'
import { requestFault } from './valid-request.ts'

/**
 * The deliberate faults of a test: unreadable records, and further log lines at error and above.
 */
export type Expected = { deadLetters?: number; errors?: number }

/** Throws if an invariant is broken. Call it when all turns have ended. */
export async function expectInvariants(
  pipeline: Pipeline,
  { deadLetters = 0, errors = 0 }: Expected = {},
): Promise<void> {
  const { server, log, records } = pipeline
  expect(server.requests.map(requestFault).filter((fault) => fault !== undefined)).toEqual([])
  expect((await records('dead-letters')).length).toBe(deadLetters)
  expect(log.filter((line) => JSON.parse(line).level >= 50).length).toBe(errors + deadLetters) // each dead letter has a line
  await expectNoKey(pipeline)
  await expectTurnsEnded(pipeline)
  await expectHonestResults(pipeline)
}

/** The key is in no record and in no log line. */
async function expectNoKey({ bus, log, agent, wiring: { topicPrefix } }: Pipeline): Promise<void> {
  const key = agent.model.apiKey
  expect(log.filter((line) => line.includes(key))).toEqual([])
  for (const name of Object.keys(topics) as TopicName[]) {
    for (const { partition } of await bus.ends(topicPrefix + name)) {
      const stored = await bus.read({
        topic: topicPrefix + name,
        partition,
        from: 0,
        limit: 100_000,
      })
      expect(
        stored
          .filter(({ value }) => value !== null && Buffer.from(value).includes(key))
          .map(({ offset }) => [name, offset]),
      ).toEqual([])
    }
  }
}

/** A message has one end, a started turn has one end, and each end explains itself. */
async function expectTurnsEnded(pipeline: Pipeline): Promise<void> {
  const { records } = pipeline
  const fallbacks = await fallbacksOf(pipeline)
  const activity = await records('activity')
  const finished = activity.filter((record) => record.type === 'turn-finished')
  expect(new Set(finished.map(messageOf)).size).toBe(finished.length)
  for (const started of activity.filter((record) => record.type === 'turn-started'))
    expect(
      finished.filter(
        ({ conversation, turn }) => conversation === started.conversation && turn === started.turn,
      ),
    ).toHaveLength(1)
  for (const end of finished) {
    const { outcome, reply, reason, class: failureClass, cap } = end
    expect(reason).toMatch(/^\P{Cc}+$/u)
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(limits.reasonBytesMax)
    expect(failureClass === null).toBe(outcome === 'answered')
    if (outcome === 'answered') expect(reply.trim()).not.toBe('')
    else expect(reply).toBe(shortened(fallbacks.get(messageOf(end)) ?? '', limits.fallbackBytesMax))
    if (outcome === 'capped') expect(cap).not.toBeNull()
  }
}

/** The fallbacks of all user messages, by message. */
async function fallbacksOf({
  bus,
  wiring: { topicPrefix },
}: Pipeline): Promise<Map<string, string>> {
  const fallbacks = new Map<string, string>()
  for (const { partition } of await bus.ends(`${topicPrefix}conversation-events`)) {
    for (const { value } of await bus.read({
      topic: `${topicPrefix}conversation-events`,
      partition,
      from: 0,
      limit: 100_000,
    })) {
      const message = readable(value)
      if (message?.type === 'user-message')
        fallbacks.set(messageOf(message), message.settings.fallback)
    }
  }
  return fallbacks
}

function readable(value: Uint8Array | null): Message | undefined {
  try {
    return value === null ? undefined : decode(value)
  } catch {
    return undefined // a dead letter
  }
}

function messageOf({ conversation, messageId }: TurnFinished | UserMessage): string {
  return JSON.stringify([conversation, messageId])
}

/** Every call has one result. By the tools' own records, only calls with a suitable status ran. */
async function expectHonestResults({ records, starts }: Pipeline): Promise<void> {
  const results: { key: string; result: CallResult }[] = []
  for (const entry of (await records('history')) as HistoryEntry[]) {
    const { conversation, turn, round, response } = entry
    expect(entry.results.map(({ ordinal }) => ordinal)).toEqual(
      (response?.calls ?? []).map(({ ordinal }) => ordinal),
    )
    for (const result of entry.results) {
      expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(limits.resultBytesMax)
      expect(Buffer.byteLength(result.reason)).toBeLessThanOrEqual(limits.reasonBytesMax)
      results.push({ key: JSON.stringify([conversation, turn, round, result.ordinal]), result })
    }
  }
  const started = (await starts()).map((line) => keyIn(JSON.parse(line)))
  expect(new Set(started).size).toBe(started.length)
  const neverRan = results
    .filter(({ result }) => ['denied', 'skipped'].includes(result.status))
    .map(({ key }) => key)
  expect(started.filter((key) => neverRan.includes(key))).toEqual([])
}

/** The key of a recorded start: some tools write it as text, some as JSON. */
function keyIn({ key }: { key: unknown }): string {
  return typeof key === 'string' ? key : JSON.stringify(key)
}
