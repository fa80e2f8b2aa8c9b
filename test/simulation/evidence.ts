// Collects the evidence of a simulation: the bytes of the topics, decoded once, all accepted
// commits, and the world's ledger.

import { decode } from '../../shared/codec/codec.ts'
import type { StoredRecord } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import { guardTopicName, stages, topics } from '../../shared/contract/topology.ts'
import {
  addressOf,
  type Committed,
  type Evidence,
  type Logged,
  type ModelAnswer,
  roundKey,
  type StoredLog,
} from '../evidence/evidence.ts'
import type { Broker } from './broker.ts'
import { guardNames } from './world/guards.ts'
import type { Ledger, ModelStream } from './world/ledger.ts'
import { onceGuardName } from './world/once.ts'
import { childTool } from './world/trees.ts'

export type SimulatedEvidence = Evidence & { stored: StoredLog }

type Collected = {
  broker: Broker
  ledger: Ledger
  topicPrefix: string
  partitions: number
  stages: StoredLog['stages']
  isTree: boolean
  /** No fault can strike. */
  isCalm: boolean
}

export function collectEvidence(of: Collected): SimulatedEvidence {
  const { broker, ledger, topicPrefix, partitions } = of
  const { guests, streams, starts, sent } = ledger
  return {
    topicPrefix,
    partitions,
    records: recordsIn(of),
    committed: lastCommits(of),
    isIdle: true,
    starts,
    startsNotedBy: 'world',
    sent,
    modelAnswers: streams.filter(({ finished }) => finished).map(answerOf),
    ruledByTool: true,
    modelRequests: streams,
    ...(of.isTree && { childTools: [childTool] }),
    ...(of.isCalm && { disturbances: [] }),
    guestRuns: guests.runs,
    guestHistories: guests,
    ...(guests.caps && { guestTrees: { children: guests.children, caps: guests.caps } }),
    stored: { records: broker.records, commits: broker.commits, stages: of.stages },
  }
}

function recordsIn({ broker, ledger, topicPrefix, partitions }: Collected): Logged[] {
  const foreign = new Set(ledger.garbage.map(addressOf))
  const ofGuards: string[] = guardNames.map(guardTopicName)
  const names = [...Object.keys(topics), ...ofGuards, guardTopicName(onceGuardName)]
  return names.flatMap((topic) =>
    Array.from({ length: partitions }, (_, partition) =>
      broker.records(topicPrefix + topic, partition).map((record): Logged => {
        const { message, fault } = decoded(record)
        return {
          topic,
          partition,
          offset: record.offset,
          time: record.time,
          key: record.key,
          id: record.id === '' ? undefined : record.id,
          digest: Buffer.from(record.value ?? []).toString('latin1'),
          message,
          // A guard outside of Weir may write anything.
          fault: ofGuards.includes(topic) ? undefined : fault,
          isForeign: foreign.has(addressOf(record)),
        }
      }),
    ).flat(),
  )
}

function decoded({ value }: StoredRecord): { message: Message | undefined; fault?: string } {
  if (value === null) return { message: undefined }
  try {
    return { message: decode(value) }
  } catch (error) {
    return { message: undefined, fault: (error as Error).message }
  }
}

function lastCommits({ broker, topicPrefix, partitions }: Collected): Committed[] {
  const last = new Map(broker.commits.map((commit) => [placeOf(commit), commit]))
  return Object.entries(stages).flatMap(([stage, { inbox }]) =>
    Array.from({ length: partitions }, (_, partition) => {
      const place = { group: topicPrefix + stage, topic: inbox, partition }
      const commit = last.get(placeOf(place))
      const end = broker.records(topicPrefix + inbox, partition).length
      const { offset = -1, metadata = '' } = commit ?? {}
      return { ...place, offset, metadata, begin: 0, end }
    }),
  )
}

function placeOf({ group, partition }: { group: string; partition: number }): string {
  return `${group}/${partition}`
}

type Call = ModelAnswer['calls'][number]

/**
 * An independent fold of a stream: the argument text is the deltas if there are any, otherwise the
 * start's text.
 */
function answerOf({ conversation, turn, round, events }: ModelStream): ModelAnswer {
  const calls = new Map<
    number,
    { id: string | null; name: string | null; start: string; deltas: string }
  >()
  let text = ''
  for (const event of events) {
    if (event.kind === 'text') text += event.text
    if (event.kind === 'call_start')
      calls.set(event.index, { id: event.id, name: event.name, start: event.text, deltas: '' })
    const call = calls.get(event.index)
    if (event.kind === 'call_arguments' && call !== undefined) call.deltas += event.text
  }
  const sent = [...calls.values()].map(({ id, name, start, deltas }) => ({
    id,
    name,
    raw: deltas === '' ? start : deltas,
  }))
  return {
    of: roundKey({ conversation, turn, round }),
    text,
    calls: sent.filter((call, n) => !isRepeat(call, n, sent)),
  }
}

/**
 * A repeated call in one response counts once. A copy without arguments only announces the call.
 */
function isRepeat(call: Call, n: number, sent: Call[]): boolean {
  return sent.some(({ id, name, raw }, k) => {
    const isOfIt = id !== null && id === call.id && name === call.name
    return isOfIt && ((call.raw === '' && raw !== '') || (k < n && raw === call.raw))
  })
}
