// R1 and R3 as a whole. Folding each inbox once, from its begin and without a fault, gives exactly
// the derived records of the topics, byte for byte. For each stage the checker also tries one
// commit: a fold from it writes the same records from there on. (The units may differ. A cancel
// that closed a round precedes that round for a fold that begins after it.) This is the one checker
// that runs the runtime's fold and the stages. It compares a run with faults with one without.

import { isDeepStrictEqual } from 'node:util'
import { codec } from '../../../shared/codec/codec.ts'
import type { Offset, RecordToAppend, StoredRecord } from '../../../shared/contract/bus.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Stage } from '../../../shared/contract/stage.ts'
import {
  type StageName,
  stages,
  type TopicName,
  topics,
} from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createFold } from '../../../shared/runtime/fold.ts'
import type { Position } from '../../../shared/runtime/log/position.ts'
import type { Judge } from '../../../shared/runtime/log/refusals.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'

type AnyStage = Stage<unknown, Message, unknown>

export function replayEqualsLog(real: Record<StageName, { stage: unknown }>): Checker {
  return {
    name: 'replay-equals-log',
    async check(evidence) {
      const findings: Finding[] = []
      const expected = new Map<string, RecordToAppend>()
      for (const name of Object.keys(stages) as StageName[])
        for (let partition = 0; partition < evidence.partitions; partition++)
          findings.push(
            ...(await replay(evidence, real[name].stage as AnyStage, partition, expected)),
          )
      return [...compare(evidence, expected), ...findings]
    },
  }
}

async function replay(
  evidence: Evidence,
  stage: AnyStage,
  partition: number,
  expected: Map<string, RecordToAppend>,
): Promise<Finding[]> {
  const { topicPrefix } = evidence
  const inbox = evidence.of(stages[stage.name].inbox, partition).map(({ record }) => record)
  const judge = refusedBy(evidence, stage.name, partition)
  const options = { ...codec, stage, partition, topicPrefix, judge, readBack: readBackOf(inbox) }
  const commits = evidence.commits.filter(
    (commit) => commit.group === topicPrefix + stage.name && commit.partition === partition,
  )
  const tried = commits[Math.floor(commits.length / 2)]
  const whole = createFold({ ...options, marks: {} })
  const behind: RecordToAppend[] = []
  for (const record of inbox) {
    const { records } = await whole.apply(record)
    for (const written of records) expected.set(written.id ?? '', written)
    if (tried !== undefined && record.offset >= tried.offset) behind.push(...records)
  }
  if (tried === undefined) return []
  const { from, marks, refused } = JSON.parse(tried.metadata) as Position
  const again = createFold({ ...options, marks, judged: { to: tried.offset, refused } })
  const behindAgain: RecordToAppend[] = []
  for (const record of inbox.slice(from)) {
    const { records } = await again.apply(record)
    if (record.offset >= tried.offset) behindAgain.push(...records)
  }
  if (isDeepStrictEqual(behind, behindAgain)) return []
  return [
    {
      problem: `${stage.name}/${partition}: the commit at ${tried.offset} folds from ${from}, which writes other records after it than the whole fold`,
    },
  ]
}

/** The facts of refusals that the inbox does not hold: the dead letters have them. */
function refusedBy(evidence: Evidence, stage: StageName, partition: number): Judge {
  const refused = new Map<Offset, WeirError>()
  for (const { record, message } of evidence.of('dead-letters', partition))
    if (
      message?.type === 'dead-letter' &&
      message.code === 'record.forged-id' &&
      record.id === `${stage}/${partition}/${message.offset}/0`
    )
      refused.set(message.offset, new WeirError(message.code, message.reason))
  return ({ offset }) => refused.get(offset)
}

function readBackOf(inbox: StoredRecord[]) {
  return async function* (from: Offset, to: Offset): AsyncGenerator<StoredRecord[]> {
    yield inbox.slice(from, to)
  }
}

function compare(evidence: Evidence, expected: Map<string, RecordToAppend>): Finding[] {
  const findings: Finding[] = []
  const missing = new Set(expected.keys())
  for (const topic of Object.keys(topics) as TopicName[])
    for (let partition = 0; partition < evidence.partitions; partition++)
      for (const { record, message } of evidence.of(topic, partition)) {
        if (record.id === undefined || record.id === '' || message === undefined) continue
        if (evidence.isGarbage(record)) continue
        const conversation = 'conversation' in message ? message.conversation : undefined
        const want = expected.get(record.id)
        missing.delete(record.id)
        const place = `${record.id} (${message.type}) in ${topic}/${partition} at ${record.offset}`
        if (want === undefined)
          findings.push({ problem: `a replay does not write ${place}`, conversation })
        else if (
          want.topic !== record.topic ||
          want.partition !== partition ||
          want.key !== record.key ||
          !isSame(want.value, record.value)
        )
          findings.push({ problem: `${place} differs from the record of a replay`, conversation })
      }
  for (const id of missing)
    findings.push({ problem: `${id} to ${expected.get(id)?.topic} was never written` })
  return findings
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0
}
