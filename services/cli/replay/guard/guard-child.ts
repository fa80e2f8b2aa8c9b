// A guard's file in a process of its own, without environment, files to write, processes or threads (guard-process.ts says so to Node), so that nothing that
// it does reaches the replay. It judges as it does in production: the same code reads the rounds (shared/guards/guard-partition.ts).

import { pino } from 'pino'
import type { PartitionReader, StoredRecord } from '../../../../shared/bus/port.ts'
import { systemClock } from '../../../../shared/clock.ts'
import { decode } from '../../../../shared/codec.ts'
import type { Guard } from '../../../../shared/guard.ts'
import { parseAnswerId, readGuardPartition } from '../../../../shared/guards/guard-partition.ts'
import type { GuardVerdict } from '../../../../shared/messages.ts'
import { guardNamed } from '../../guard/named-guard.ts'

export type Request = { kind: 'load'; given: string } | { kind: 'judge'; partition: number; records: StoredRecord[] }

/** `offset`: of the round-cleared record that it answers. */
export type Judged = { offset: number; verdict: GuardVerdict }

export type Answer =
  | { kind: 'loaded'; guard: Pick<Guard, 'name' | 'version' | 'tools' | 'deadlineMs' | 'onTimeout'> }
  | { kind: 'failed'; reason: string }
  | { kind: 'judged'; judged: Judged[] }

const silent = pino({ level: 'silent' })
const readers = new Map<number, PartitionReader>()
let guard: Guard | undefined

process.on('message', (request: Request) => {
  answer(request).then(send, (error: unknown) => send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) }))
})
process.on('disconnect', () => process.exit())

async function answer(request: Request): Promise<Answer> {
  switch (request.kind) {
    case 'load': {
      guard = await guardNamed(request.given)
      const { name, version, tools, deadlineMs, onTimeout } = guard
      return { kind: 'loaded', guard: { name, version, tools, deadlineMs, onTimeout } }
    }
    case 'judge': {
      const { outputs } = await readerOf(request.partition).read(request.records)
      return { kind: 'judged', judged: outputs.flatMap(({ id = '', value }) => judgedOf(id, value)) }
    }
    default:
      return request satisfies never
  }
}

function readerOf(partition: number): PartitionReader {
  const known = readers.get(partition)
  if (known !== undefined) return known
  if (guard === undefined) throw new Error('no guard is loaded')
  const assignment = { topic: 'rounds-cleared', ends: { partition, begin: 0, end: 0 }, committed: undefined }
  const reader = readGuardPartition({ guard, assignment, topic: 'verdicts', clock: systemClock, log: silent })
  readers.set(partition, reader)
  return reader
}

function judgedOf(id: string, value: Uint8Array | null): Judged[] {
  const place = parseAnswerId(id)
  const message = value === null ? undefined : decode(value)
  return place === undefined || message?.type !== 'guard-verdict' ? [] : [{ offset: place.offset, verdict: message }]
}

function send(answered: Answer): void {
  process.send?.(answered)
}
