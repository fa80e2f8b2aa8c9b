// Repeat counts before and after each round of a turn: the loop-detector's own memory, folded again
// from its inbox.
// The fold is the detector's, and only its memory is read here. Rules keep any data. A
// count is an object with `rounds`, a number in a map, or a number under a key of `counted`.
// If the detector cannot process a record, only the fold ends. The later rounds of the
// report have no streaks.

import { loopDetector, type Turn } from '../../services/loop-detector/reducer.ts'
import type { Message } from '../../shared/contract/messages.ts'
import type { Logged } from '../../shared/view/logged.ts'
import type { StreakChange } from './page/data.ts'

type Inbox = Parameters<typeof loopDetector.react>[1]['message']

/** By round. `ofTurn`: all records of the turn, in order. */
export function streaksOf(ofTurn: readonly Logged[]): Map<number, StreakChange[]> {
  const changes = new Map<number, StreakChange[]>()
  let turn: Turn | undefined
  let previous: number | undefined
  let before: Counts = new Map()
  for (const { topic, message, offset, time } of ofTurn) {
    if (topic !== 'rounds-checked' || message === undefined || !isForDetector(message)) continue
    try {
      turn = loopDetector.react(turn, { message, offset, previous, time }).state
    } catch {
      return changes
    }
    previous = offset
    if (turn === undefined || !('round' in message) || turn.outstanding !== undefined) continue
    const after = countsIn(turn.memory.rules)
    changes.set(message.round, [
      ...(changes.get(message.round) ?? []),
      ...changesBetween(before, after),
    ])
    before = after
  }
  return changes
}

function isForDetector(message: Message): message is Inbox {
  return ['round-checked', 'round-executed', 'turn-ended', 'cancel'].includes(message.type)
}

// ── Counts in a memory ──

type Count = { rule: string; what: string; count: number; action: string }
type Counts = Map<string, Count>

const counted: Record<string, string> = { inRow: 'in a row', inTurn: 'in the turn' }

function countsIn(rules: ReadonlyMap<string, unknown>): Counts {
  const counts: Counts = new Map()
  for (const [rule, memory] of rules)
    for (const count of read(rule, memory)) counts.set(JSON.stringify([rule, ...count.path]), count)
  return counts
}

type Found = Count & { path: string[] }

const depthMax = 3

function read(rule: string, value: unknown, path: string[] = []): Found[] {
  if (path.length > depthMax || typeof value !== 'object' || value === null || value instanceof Set)
    return []
  if (value instanceof Map)
    return [...value].flatMap(([key, inner]) =>
      typeof inner === 'number'
        ? [{ rule, what: String(key), count: inner, action: 'none', path: [...path, String(key)] }]
        : read(rule, inner, [...path, String(key)]),
    )
  const fields = Object.entries(value)
  const rounds = fields.find(([key]) => key === 'rounds')?.[1]
  if (typeof rounds === 'number')
    return [{ rule, what: whatOf(value, path), count: rounds, action: actionOf(value), path }]
  return fields.flatMap(([key, inner]) =>
    typeof inner === 'number' && Object.hasOwn(counted, key)
      ? [
          {
            rule,
            what: counted[key] ?? key,
            count: inner,
            action: actionOf(value),
            path: [...path, key],
          },
        ]
      : read(rule, inner, [...path, key]),
  )
}

/**
 * A text for the newest counted call; keys are hashes. Under the same error the calls differ, so
 * there the text has the outcome.
 */
function whatOf(streak: object, path: string[]): string {
  const shown: unknown =
    Reflect.get(streak, 'shown') ?? Reflect.get(Reflect.get(streak, 'streak') ?? {}, 'shown')
  const last: unknown = Array.isArray(shown) ? shown.at(-1) : undefined
  if (typeof last !== 'object' || last === null) return path.at(-1) ?? ''
  const { tool = '', arguments: sent = '', outcome = '' } = last as Record<string, unknown>
  return path[0] === 'byError' ? `${tool} → ${outcome}` : `${tool}(${sent})`
}

function actionOf(streak: object): string {
  const action: unknown =
    Reflect.get(streak, 'action') ?? Reflect.get(Reflect.get(streak, 'streak') ?? {}, 'action')
  return typeof action === 'string' ? action : 'none'
}

// ── Between two rounds ──

function changesBetween(before: Counts, after: Counts): StreakChange[] {
  const changes: StreakChange[] = []
  for (const [key, { rule, what, count, action }] of after) {
    const earlier = before.get(key)?.count ?? 0
    if (earlier !== count && Math.max(earlier, count) >= countMin)
      changes.push({ rule, what, before: earlier, after: count, action })
  }
  for (const [key, { rule, what, count }] of before)
    if (!after.has(key) && count >= countMin)
      changes.push({ rule, what, before: count, after: 0, action: 'none' })
  return changes
}

/** A single occurrence is not a repetition. */
const countMin = 2
