// "With this threshold these turns would have ended so": the newest turns of an agent, judged again
// with several values of one threshold.
// It judges at most `limits.consoleWhatIfTurnsMax` turns, and reads at most
// `limits.consoleWhatIfRecordsMax` records.
// Other work runs between two parts of `consoleWhatIfStepMax` records, and
// there it ends if `signal` aborts.

import { setImmediate as othersTurn } from 'node:timers/promises'
import { policyKeys, readEntries } from '../../../../shared/agents/policy/entries.ts'
import type { TurnId } from '../../../../shared/contract/ids.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { usageError } from '../../../../shared/lib/errors.ts'
import type { OpenLog } from '../../../history/open-log.ts'
import type { ReadLog } from '../../../replay/log-range.ts'
import { readOnly } from '../../../replay/replay.ts'
import { sweepPage } from '../../../replay/sweep.ts'
import type { Change } from '../../../replay/what-if/change.ts'
import { contentsOf } from '../../../replay/what-if/policy-flags.ts'
import { whatIf } from '../../../replay/what-if/what-if.ts'
import type { TurnChange, WhatIfData } from '../page/operator-state.ts'
import type { RecentTurn } from './recent-turns.ts'

/** Records between two pauses of a what-if, and changed turns that it shows for a value. */
const consoleWhatIfStepMax = 64
const consoleTurnChangesMax = 20

/** A turn's first record may be so much older than its beginning: it waited for the one before. */
const waitedMs: Milliseconds = 600_000

/** Throws `usage` for a key without numbers. */
export async function whatIfData(
  { agent, conversation, key, current }: Omit<WhatIfData, 'turns' | 'conversations' | 'rows'>,
  { log, turns, signal }: { log: OpenLog; turns: readonly RecentTurn[]; signal: AbortSignal },
): Promise<WhatIfData> {
  const values = valuesFor(key, current)
  const common = { agent, conversation, key, current, turns: turns.length }
  if (turns.length === 0) return { ...common, conversations: 0, rows: [] }
  const found = await whatIf({
    log: bounded(readOnly(log), turns, signal),
    contents: contentsOf({ key, values }),
    only: conversation === null ? undefined : new Set([conversation]),
    since: Math.min(...turns.map(({ startedAt }) => startedAt)) - waitedMs,
    until: undefined,
  })
  const { rows, conversations } = sweepPage({ key, values }, found)
  return {
    ...common,
    conversations,
    rows: rows.map((row, place) => ({ ...row, changes: shownChanges(found.changes[place] ?? []) })),
  }
}

/** Keeps both invariants. */
function bounded(log: ReadLog, turns: readonly TurnId[], signal: AbortSignal): ReadLog {
  const chosen = new Set(turns.map(nameOf))
  let read = 0
  return {
    ...log,
    turns: (partition, turn) => chosen.has(nameOf(turn)) && log.turns?.(partition, turn) !== false,
    bus: {
      ends: (topic) => log.bus.ends(topic),
      async read({ limit, ...range }) {
        await othersTurn()
        signal.throwIfAborted()
        const records = await log.bus.read({
          ...range,
          limit: Math.min(limit, consoleWhatIfStepMax),
        })
        read += records.length
        if (read > limits.consoleWhatIfRecordsMax)
          throw usageError(
            'these turns have too many records for the console: use weir replay --sweep',
          )
        return records
      },
    },
  }
}

function nameOf({ conversation, turn }: TurnId): string {
  return `${turn} ${conversation}`
}

const factors = [0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4]
const smallMax = 20

/** The accepted values around the current one, in order. Without a current one: powers of ten. */
export function valuesFor(key: string, current: number | null): number[] {
  const from = current ?? 1_000_000
  const values =
    from <= smallMax
      ? Array.from({ length: Math.min(smallMax, Math.max(8, 2 * from)) + 1 }, (_, value) => value)
      : [...new Set(factors.map((factor) => Math.max(1, Math.round(from * factor))))]
  const accepted = values.filter((value) => isAccepted(key, value))
  if (policyKeys.includes(key) && accepted.length > 0) return accepted
  throw usageError(`${key} is no threshold with a number`)
}

function isAccepted(key: string, value: number): boolean {
  return readEntries([{ key, value: `${value}` }]).faults.length === 0
}

/** Those with the most effect first. Without reasons: they may hold values that rules of agents hide. */
function shownChanges(changes: readonly Change[]): TurnChange[] {
  return changes
    .map(({ conversation, round, was, is, roundsSaved, tokensSaved, roundsLater, denied }) => ({
      conversation,
      round,
      was: shownDecision(was),
      is: shownDecision(is),
      roundsSaved,
      tokensSaved,
      roundsLater,
      lost: denied.length,
    }))
    .sort((a, b) => b.roundsSaved - a.roundsSaved || b.lost - a.lost)
    .slice(0, consoleTurnChangesMax)
}

function shownDecision(decision: Change['was']): TurnChange['was'] {
  return decision && { action: decision.action, rule: decision.rule }
}
