// Finds the verdicts of a new or changed guard on the cleared rounds, and how their calls ended.
// The verdict is computed before the round's end is read: the executor's report names its input
// record.

import { reducers } from '../../../services/reducers.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import { encode } from '../../../shared/codec/codec.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import { isDeniedByGuard } from '../../../shared/contract/call/call.ts'
import type { TurnId } from '../../../shared/contract/ids.ts'
import { type ConversationId, roundKey } from '../../../shared/contract/ids.ts'
import type {
  CallVerdict,
  GuardInForce,
  GuardVerdict,
  RoundOutcome,
  VerdictKind,
} from '../../../shared/contract/messages.ts'
import { parseId } from '../../../shared/runtime/derived-id.ts'
import { isEndRecord } from '../../../shared/runtime/guards/call-ends.ts'
import type { LoadedGuard } from '../guard/guard-answer.ts'
import type { GuardProcess } from '../guard/guard-process.ts'
import type { ReadLog, TopicRange } from '../log-range.ts'
import type { Changes, Decision } from './change.ts'
import { isOutcome, type Lens, roundOf } from './policy-lens.ts'
import { createRepetitions } from './repetitions.ts'
import { createVariants } from './variants.ts'

export function guardLens(
  log: ReadLog,
  inbox: TopicRange,
  options: {
    cleared: TopicRange
    process: GuardProcess
    /** Default: all conversations. */
    only: ReadonlySet<ConversationId> | undefined
    changes: Changes
    hasTurn: (turn: TurnId) => boolean
  },
): Lens {
  const { cleared, process, only, changes, hasTurn } = options
  const variants = createVariants(log, inbox, reducers['loop-detector'], [])
  const repeatedIn = createRepetitions()
  const inForce = inForceOf(process.guard)
  const batches = batchesOf(log.bus, { ...cleared })
  /** Rounds with a verdict, until they are over. */
  const verdicts = new Map<string, GuardVerdict>()
  let judgedTo = cleared.from

  /** Judges all rounds up to this offset of rounds-cleared. */
  async function judgeTo(offset: number): Promise<void> {
    while (judgedTo <= offset) {
      const { value: records }: IteratorResult<StoredRecord[], undefined> = await batches.next()
      if (records === undefined) return
      judgedTo = (records.at(-1)?.offset ?? judgedTo) + 1
      const selected = records.filter(({ key }) => only?.has(key) !== false)
      const rounds = selected.flatMap((record) => withGuard(record, inForce))
      for (const { verdict } of await process.judge(cleared.partition, rounds))
        if (
          verdict.intervention !== null ||
          verdict.verdicts.some((one) => one.verdict !== 'allow')
        )
          verdicts.set(roundKey(verdict), verdict)
    }
  }

  return {
    inbox,
    async take(record) {
      const id = parseId(record.id)
      if (id?.stage === 'executor') await judgeTo(id.offset)
      const [written = []] = await variants.take(record)
      for (const outcome of written.filter(isOutcome)) {
        const verdict = verdicts.get(roundKey(outcome))
        verdicts.delete(roundKey(outcome))
        if (!hasTurn(outcome)) continue
        const denying = ordinalsOf(verdictsOfKind(verdict, 'deny'))
        const asking = verdictsOfKind(verdict, 'ask').length
        const round = roundOf(record, outcome, repeatedIn(outcome))
        changes.judged({
          ...round,
          was: wasDecided(record, outcome, process.guard),
          is: decisionOf(verdict),
          denying,
          asking,
        })
      }
    },
  }
}

function inForceOf({ name, version, tools, deadlineMs, onTimeout }: LoadedGuard): GuardInForce {
  return {
    name,
    version,
    tools: tools.map((pattern) => ({ pattern, mode: 'enforce' as const })),
    deadlineMs,
    onTimeout,
    rules: null,
  }
}

/**
 * The record with this guard in force instead of another version of it. A guard may learn the end of
 * a call by each other one.
 */
function withGuard(record: StoredRecord, guard: GuardInForce): StoredRecord[] {
  const message = messageOf(record.value)
  if (message?.type !== 'round-cleared') return message && isEndRecord(message) ? [record] : []
  const guards = [...message.policy.guards.filter(({ name }) => name !== guard.name), guard]
  return [{ ...record, value: encode({ ...message, policy: { ...message.policy, guards } }) }]
}

function decisionOf(verdict: GuardVerdict | undefined): Decision | null {
  if (verdict === undefined) return null
  const rule = ruleOf(verdict.guard, verdict.version)
  for (const kind of ['deny', 'ask'] as const) {
    const some = verdictsOfKind(verdict, kind)
    const [first] = some
    if (first !== undefined)
      return { action: kind, rule, reason: first.evidence ?? first.code, calls: ordinalsOf(some) }
  }
  return verdict.intervention === null
    ? null
    : { action: 'nudge', rule, reason: verdict.intervention.reason }
}

function verdictsOfKind(verdict: GuardVerdict | undefined, kind: VerdictKind): CallVerdict[] {
  return verdict?.verdicts.filter((one) => one.verdict === kind) ?? []
}

/**
 * The effect that this guard, perhaps in another version, had on the round: a veto of calls, or an
 * intervention.
 */
function wasDecided(
  record: StoredRecord,
  { results, policy }: RoundOutcome,
  { name }: LoadedGuard,
): Decision | null {
  const guard = policy.guards.find((one) => one.name === name)
  if (guard === undefined) return null
  const rule = ruleOf(name, guard.version)
  const denied = results.filter((result) => isDeniedByGuard(result) && result.guard === name)
  const [first] = denied
  if (first !== undefined)
    return { action: 'deny', rule, reason: first.reason, calls: ordinalsOf(denied) }
  const executed = messageOf(record.value)
  const wish =
    executed?.type === 'round-executed'
      ? executed.wishes.find((one) => one.guard === name)
      : undefined
  return wish === undefined ? null : { action: 'nudge', rule, reason: wish.reason }
}

function ordinalsOf(calls: readonly { ordinal: number }[]): number[] {
  return calls.map(({ ordinal }) => ordinal).sort((one, other) => one - other)
}

function ruleOf(name: string, version: string): string {
  return `${name}@${version}`
}
