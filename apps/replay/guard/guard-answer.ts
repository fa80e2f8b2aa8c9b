// Checks the answers of a guard's process. It runs foreign code, so nothing is trusted unchecked.

import { messageOf } from '../../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { Guard } from '../../../shared/contract/guard/guard.ts'
import { registrationFault } from '../../../shared/contract/guard/guard-registration.ts'
import { isSameRound } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type { GuardVerdict, Message } from '../../../shared/contract/messages.ts'
import { boundedJson } from '../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { shortened } from '../../../shared/lib/text-cut.ts'

export type LoadedGuard = Pick<Guard, 'name' | 'version' | 'tools' | 'deadlineMs' | 'onTimeout'> & {
  external: boolean
}

/** `offset`: of the round-cleared record that it answers. `verdict`: an encoded guard-verdict. */
export type AnsweredRound = { offset: number; verdict: Uint8Array }

/** `fickle`: a second judgement of the same round differed. */
export type Answer =
  | { kind: 'loaded'; guard: LoadedGuard }
  | { kind: 'failed'; reason: string }
  | { kind: 'fickle'; reason: string }
  | { kind: 'judged'; rounds: AnsweredRound[] }

export type Judged = { offset: number; verdict: GuardVerdict }

/** Undefined: the line does not answer the question with this number. It is read once. */
export function answerIn(line: string, number: number): Answer | undefined {
  const message = boundedJson(line, depthMax)
  if (!isObject(message) || message.number !== number) return undefined
  const { kind, guard, reason, rounds } = message
  if (kind === 'loaded' && isLoadedGuard(guard)) return { kind, guard }
  if ((kind === 'failed' || kind === 'fickle') && typeof reason === 'string')
    return { kind, reason: shortened(reason, limits.guardEvidenceBytesMax) }
  if (kind !== 'judged' || !Array.isArray(rounds)) return undefined
  const judged = rounds.map(answeredRound)
  return judged.includes(undefined) ? undefined : { kind, rounds: judged as AnsweredRound[] }
}

const depthMax = 8

/**
 * The verdicts on these records of rounds-cleared. Undefined: one is no verdict, is on another
 * round, or answers a round twice.
 */
export function verdictsIn(
  rounds: readonly AnsweredRound[],
  records: readonly StoredRecord[],
): Judged[] | undefined {
  const open = new Map(records.map((record) => [record.offset, record]))
  const judged: Judged[] = []
  for (const { offset, verdict: bytes } of rounds) {
    const record = open.get(offset)
    const verdict = messageOf(bytes)
    if (
      record?.value == null ||
      verdict?.type !== 'guard-verdict' ||
      !isOn(verdict, messageOf(record.value))
    )
      return undefined
    open.delete(offset)
    judged.push({ offset, verdict })
  }
  return judged
}

function isOn(verdict: GuardVerdict, cleared: Message | undefined): boolean {
  if (cleared?.type !== 'round-cleared') return false
  return (
    isSameRound(verdict, cleared) &&
    verdict.verdicts.every(({ ordinal }) => cleared.calls.some((call) => call.ordinal === ordinal))
  )
}

function isLoadedGuard(value: unknown): value is LoadedGuard {
  if (!isObject(value)) return false
  const { name, version, tools, deadlineMs, onTimeout, external } = value
  if (typeof name !== 'string' || typeof version !== 'string' || typeof deadlineMs !== 'number')
    return false
  if (!Array.isArray(tools) || !tools.every((pattern) => typeof pattern === 'string')) return false
  if (typeof external !== 'boolean') return false
  if (onTimeout !== 'deny' && onTimeout !== 'allow') return false
  const patterns = tools.map((pattern) => ({ pattern, mode: 'enforce' as const }))
  return (
    registrationFault({ name, version, tools: patterns, deadlineMs, onTimeout, rules: null }) ===
    undefined
  )
}

function answeredRound(value: unknown): AnsweredRound | undefined {
  if (!isObject(value) || typeof value.verdict !== 'string') return undefined
  if (!Number.isSafeInteger(value.offset) || !base64.test(value.verdict)) return undefined
  return {
    offset: value.offset as number,
    verdict: new Uint8Array(Buffer.from(value.verdict, 'base64')),
  }
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
