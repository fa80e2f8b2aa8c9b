import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import {
  historyConversation,
  historyPrefix,
} from '../../../shared/contract/history/history-keys.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import {
  guardTopic,
  guardTopicName,
  historyKey,
  stages,
  topics,
  topicsWrittenBy,
} from '../../../shared/contract/topology.ts'

const dayMs = 86_400_000
const lock: { type: string }[] = JSON.parse(
  readFileSync(new URL('../../../schemas/lock.json', import.meta.url), 'utf8'),
)

/**
 * The wiring as text: one topic a line with its records and its reader. Reviews see each change of
 * it.
 */
function printTopology(): string {
  const lines: string[] = []
  for (const [name, topic] of Object.entries({
    ...topics,
    [guardTopicName('<guard>')]: guardTopic,
  })) {
    const reader = Object.entries(stages).find(([, stage]) => stage.inbox === name)
    lines.push(
      `${name} (${topic.kind})${reader ? ` -> ${reader[0]}, a unit is ${reader[1].unit}` : ''}`,
    )
    for (const [type, writers] of Object.entries(topic.records))
      lines.push(`    ${type} <- ${writers?.join(', ')}`)
    if (topic.tombstones !== undefined)
      lines.push(`    (tombstone) <- ${topic.tombstones.join(', ')}`)
  }
  return `${lines.join('\n')}\n`
}

describe('the topology', () => {
  it('has this printed form, which changes with the wiring', () => {
    expect(`\n${printTopology()}`).toMatchInlineSnapshot(`
"
client-messages (log) -> intake, a unit is none
    content-sent <- edge
    fork-requested <- edge
    title-given <- edge
    user-named <- edge
    user-message <- edge
    cancel-requested <- edge
    result-sent <- edge
conversation-events (log) -> conversation, a unit is conversation
    user-message <- intake
    cancel-requested <- intake
    round-outcome <- loop-detector
    turn-extended <- loop-detector
    turn-failed <- runtime of any stage
    carried <- conversation
    tick <- runtime
guest-events (log) -> guest, a unit is conversation
    guest-round <- front
    guest-results <- front
    guest-claim <- front
    cancel-requested <- intake
    round-outcome <- loop-detector
    turn-extended <- loop-detector
    turn-failed <- runtime of any stage
    guest-carried <- guest
    tick <- runtime
model-requests (log) -> llm-gateway, a unit is round
    model-request <- conversation
    cancel <- conversation
    attempt-started <- llm-gateway performer
    attempt-failed <- llm-gateway performer
    attempt-finished <- llm-gateway performer
    tick <- runtime
model-deltas (log) -> accumulator, a unit is round
    model-opened <- llm-gateway
    part <- llm-gateway performer
    model-finished <- llm-gateway
    tick <- runtime
rounds-proposed (log) -> validator, a unit is none
    round-proposed <- accumulator, guest
rounds-checked (log) -> loop-detector, a unit is turn
    round-checked <- validator
    round-executed <- executor
    turn-ended <- conversation, guest
    cancel <- conversation, guest
    tick <- runtime
rounds-cleared (log) -> executor, a unit is turn
    round-cleared <- loop-detector
    turn-ended <- conversation, guest
    cancel <- conversation, guest
    claim <- executor performer
    outcome <- executor performer, guest
    verdicts-requested <- guest
    result-sent <- intake
    lapsed <- executor performer
    programs-hashed <- executor performer
    calls-stopped <- executor performer
    input-requested <- executor performer
    input-given <- executor performer
    guard-verdict <- executor performer
    tick <- runtime
approvals (log) -> approval, a unit is round
    approval-asked <- executor
    approval-withdrawn <- executor
    approval-answered <- approver
    tick <- runtime
guard-verdicts.approval (log)
    guard-verdict <- approval
    input-given <- approval
history (table)
    history-entry <- conversation, guest
    content-kept <- intake, executor performer
    conversation-forked <- intake
    conversation-titled <- intake
    history-summary <- llm-gateway performer
    (tombstone) <- intake, llm-gateway performer, operator
conversation-keys (table)
    conversation-key <- edge, front, operator
    (tombstone) <- operator
policies (table)
    operator-limits <- operator
    partition-count <- operator, runtime
    topic-ids <- operator, runtime
    format-schemas <- operator, runtime
    fleet-format <- operator, runtime
    agent-policy <- operator
    guard-registration <- operator
    operator-stop <- operator
    operator-budget <- operator
    operator-prices <- operator
    setting-removed <- operator
    (tombstone) <- operator
budgets (log)
    budget-reserved <- llm-gateway performer, executor performer, front
    budget-settled <- llm-gateway performer, executor performer, front
    budget-released <- llm-gateway performer, executor performer, front
    slot-reserved <- llm-gateway performer, front
    slot-renewed <- llm-gateway performer, front
    slot-settled <- llm-gateway performer, front
activity (log)
    turn-started <- conversation, guest
    round-started <- conversation, guest
    guest-advice <- guest
    guest-verdicts <- executor
    guest-claimed <- guest
    model-retry <- llm-gateway
    model-waiting <- llm-gateway performer
    budget-reached <- llm-gateway performer, guest
    requests-unjudged <- guest
    model-answered <- loop-detector
    call-denied <- loop-detector
    intervention-raised <- loop-detector
    calls-waiting <- executor
    guard-verdict-given <- executor
    approval-pending <- approval
    approval-decided <- approval
    tool-started <- executor performer
    call-offered <- executor
    call-finished <- executor
    turn-finished <- conversation, guest
    conversation-forgotten <- operator
audit (log)
    audit-decided <- approval
    audit-followed <- executor
    audit-changed <- operator
dead-letters (log)
    dead-letter <- runtime of any stage
guard-verdicts.<guard> (log)
    guard-verdict <- guard
"
`)
  })

  it('gives every stage its own inbox', () => {
    const inboxes = Object.values(stages).map((stage) => stage.inbox)
    expect(new Set(inboxes).size).toBe(inboxes.length)
  })

  it('has a topic for every message type, and a message type for every record of a topic', () => {
    const written = new Set(Object.values(topics).flatMap((topic) => Object.keys(topic.records)))
    expect([...written].sort()).toEqual([...new Set(lock.map((entry) => entry.type))].sort())
  })

  it('lets each stage write only where one of its ports leads', () => {
    for (const [name, topic] of Object.entries(topics))
      for (const writer of new Set([
        ...Object.values(topic.records).flat(),
        ...(topic.tombstones ?? []),
      ])) {
        const stage = writer.replace(/ performer$/, '')
        if (stage in stages)
          expect({
            writer,
            ports: topicsWrittenBy(stage as keyof typeof stages),
          }).toMatchObject({
            ports: expect.arrayContaining([name]),
          })
      }
  })

  it('prefixes every topic and gives all of them one partition count', () => {
    const specs = topicSpecs('team-a.', 7)
    expect(specs.every((spec) => spec.name.startsWith('team-a.') && spec.partitions === 7)).toBe(
      true,
    )
  })

  it('keeps logs for the retention, dead letters and budgets at least a month, evidence for its own time, and tables for ever', () => {
    const kept = (days?: number) =>
      Object.fromEntries(
        topicSpecs('', 1, days && days * dayMs, 60 * dayMs).map(({ name, retentionMs }) => [
          name,
          retentionMs,
        ]),
      )
    const names = Object.entries(topics).filter(
      ([name, { kind }]) => kind === 'log' && name !== 'dead-letters',
    )
    expect(kept(2)).toEqual({
      ...Object.fromEntries(names.map(([name]) => [name, 2 * dayMs])),
      'dead-letters': 30 * dayMs,
      budgets: 36 * dayMs,
      audit: 60 * dayMs,
      history: undefined,
      policies: undefined,
    })
    expect(kept(90)).toMatchObject({ 'dead-letters': 90 * dayMs, audit: 90 * dayMs })
    expect(topicSpecs('', 1, dayMs)).toContainEqual(
      expect.objectContaining({ name: 'audit', retentionMs: 400 * dayMs }),
    )
    const limited = Object.entries(kept()).filter(([, retentionMs]) => retentionMs !== undefined)
    expect(limited).toEqual([['budgets', 36 * dayMs]])
  })
})

describe('the keys of history', () => {
  it('name the conversation of the entry, and other keys name none', () => {
    for (const conversation of ['a', 'a"b', '', '[1]'])
      expect(historyConversation(historyKey({ conversation, turn: 1, round: 2 }))).toBe(
        conversation,
      )
    for (const key of ['', 'a', '{}', '[]', '[1,2,3]', 'null', '"a"'])
      expect(historyConversation(key)).toBeUndefined()
  })

  it('begin with the prefix of their conversation and of no other', () => {
    const key = historyKey({ conversation: 'a', turn: 1, round: 2 })
    expect(key.startsWith(historyPrefix('a'))).toBe(true)
    for (const other of ['a,1', 'a"', '', 'aa', 'A', 'a\\'])
      expect(
        key.startsWith(historyPrefix(other)) ||
          historyKey({ conversation: other, turn: 1, round: 2 }).startsWith(historyPrefix('a')),
      ).toBe(false)
  })
})
