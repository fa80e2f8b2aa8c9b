// The lines between a replay and the process of a guard. Bytes of records are base64 in JSON. Not the IPC
// channel of Node: a line that a guard writes there can end the replay.

import type { NamedGuard } from '../../../client/guards/guard-file.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Answer } from './guard-answer.ts'

export type Question =
  | ({ kind: 'load' } & NamedGuard)
  | { kind: 'judge'; partition: number; records: StoredRecord[] }

/** Of an answer. It has the verdicts on some rounds, each with texts of 4 KiB for a call. */
export const answerBytesMax = 64 * 1024 * 1024

export function questionLine(number: number, question: Question): string {
  if (question.kind === 'load') return lineOf({ number, ...question })
  const records = question.records.map((record) => ({ ...record, value: textOf(record.value) }))
  return lineOf({ number, ...question, records })
}

/** The line comes from the replay. */
export function questionIn(line: string): Question & { number: number } {
  const question = JSON.parse(line)
  if (question.kind === 'load') return question
  const records = question.records.map(
    (record: Omit<StoredRecord, 'value'> & { value: string | null }): StoredRecord => ({
      ...record,
      value: record.value === null ? null : bytesOf(record.value),
    }),
  )
  return { ...question, records }
}

export function answerLine(number: number, answer: Answer): string {
  if (answer.kind !== 'judged') return lineOf({ number, ...answer })
  const rounds = answer.rounds.map((round) => ({ ...round, verdict: textOf(round.verdict) }))
  return lineOf({ number, ...answer, rounds })
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}
