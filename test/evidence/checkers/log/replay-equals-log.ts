// R1 and R3 as a whole. Folding each inbox once, from its begin and without a fault, gives exactly
// the derived records of the topics, byte for byte. For each stage the checker also tries one
// commit: a fold from it writes the same records from there on. (The units may differ. A cancel
// that closed a round precedes that round for a fold that begins after it.) This is the one checker
// that runs the runtime's fold and the stages. It compares a run with faults with one without.

import { isDeepStrictEqual } from 'node:util'
import { codec } from '../../../../shared/codec/codec.ts'
import type { Offset, RecordToAppend, StoredRecord } from '../../../../shared/contract/bus.ts'
import type { Message } from '../../../../shared/contract/messages.ts'
import type { Stage } from '../../../../shared/contract/stage.ts'
import { type StageName, stages, topics } from '../../../../shared/contract/topology.ts'
import { WeirError } from '../../../../shared/lib/errors.ts'
import { createFold } from '../../../../shared/runtime/fold.ts'
import type { Position } from '../../../../shared/runtime/log/position.ts'
import type { Judge } from '../../../../shared/runtime/log/refusals.ts'
import {
  addressOf,
  type Checker,
  type Evidence,
  type Finding,
  recordsOf,
  type StoredLog,
} from '../../evidence.ts'

type AnyStage = Stage<unknown, Message, unknown>

type Replayed = Evidence & { stored: StoredLog }

export const replayEqualsLog: Checker<'stored'> = {
  name: 'replay-equals-log',
  rule: 'One fold of each inbox without faults gives exactly the records of the log.',
  needs: ['stored'],
  async check(evidence) {
    const findings: Finding[] = []
    const expected = new Map<string, RecordToAppend>()
    for (const name of Object.keys(stages) as StageName[])
      for (let partition = 0; partition < evidence.partitions; partition++)
        findings.push(
          ...(await replay(
            evidence,
            evidence.stored.stages[name].stage as AnyStage,
            partition,
            expected,
          )),
        )
    return [...compare(evidence, expected), ...findings]
  },
}

async function replay(
  evidence: Replayed,
  stage: AnyStage,
  partition: number,
  expected: Map<string, RecordToAppend>,
): Promise<Finding[]> {
  const { topicPrefix, stored } = evidence
  const inbox = stored.records(topicPrefix + stages[stage.name].inbox, partition)
  const judge = refusedBy(evidence, stage.name, partition)
  const options = { ...codec, stage, partition, topicPrefix, judge, readBack: readBackOf(inbox) }
  const commits = stored.commits.filter(
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
  for (const { id, message } of recordsOf(evidence, 'dead-letter'))
    if (message.code === 'record.forged-id' && id === `${stage}/${partition}/${message.offset}/0`)
      refused.set(message.offset, new WeirError(message.code, message.reason))
  return ({ offset }) => refused.get(offset)
}

function readBackOf(inbox: StoredRecord[]) {
  return async function* (from: Offset, to: Offset): AsyncGenerator<StoredRecord[]> {
    yield inbox.slice(from, to)
  }
}

function compare(
  { records, stored, topicPrefix }: Replayed,
  expected: Map<string, RecordToAppend>,
): Finding[] {
  const findings: Finding[] = []
  const missing = new Set(expected.keys())
  for (const { topic, partition, offset, id, message, isForeign } of records) {
    if (!(topic in topics) || id === undefined || message === undefined || isForeign) continue
    const record = stored.records(topicPrefix + topic, partition)[offset]
    const want = expected.get(id)
    missing.delete(id)
    const report = (problem: string) =>
      findings.push({
        problem: `${id} (${message.type}) ${problem}`,
        at: addressOf({ topic, partition, offset }),
      })
    if (want === undefined) report('is not written by a replay')
    else if (
      want.topic !== record?.topic ||
      want.partition !== partition ||
      want.key !== record.key ||
      !isSame(want.value, record.value)
    )
      report('differs from the record of a replay')
  }
  for (const id of missing)
    findings.push({ problem: `${id} to ${expected.get(id)?.topic} was never written` })
  return findings
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0
}
