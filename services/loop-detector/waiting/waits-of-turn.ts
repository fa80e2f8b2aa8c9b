// The calls of a turn that wait, with the ids that earlier calls returned.
//
// An answer proves a wait only if time passes between the rounds. An agent file declares
// its pollers, so there it must be the time that an agent needs. Scenarios may have no times.
// Bounded (R7): the newest ids, and only those at the beginning of an answer.

import { limits } from '../../../shared/contract/limits.ts'
import { unreachable } from '../../../shared/contract/stage.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { remember } from '../../../shared/lib/recency.ts'
import type { CallEvidence, RoundEvidence } from '../evidence/call-evidence.ts'
import { hastyMs } from '../patience.ts'
import { unnamed, type Wait } from './waiting.ts'

/** The memory of a turn: the time of its last round, and the ids that calls returned. */
export type WaitMemory = { time: Milliseconds | undefined; ids: Set<string> }

export function noWaits(): WaitMemory {
  return { time: undefined, ids: new Set() }
}

/** `failure` undefined: the call succeeded. */
type Waits = Pick<CallEvidence, 'wait' | 'poll' | 'text' | 'runs'> & { failure: unknown }

/** The calls of a round, with `poll` set on those that wait. Adds the round to the memory. */
export function withWaits<Call extends Waits>(
  memory: WaitMemory,
  { calls, time, isGuest }: Pick<RoundEvidence, 'time' | 'isGuest'> & { calls: Call[] },
): Call[] {
  const passed = memory.time === undefined ? 0 : time - memory.time
  const hasClock = isGuest || passed >= hastyMs
  memory.time = time
  const all = calls.map((call) => {
    if (call.wait.kind === 'no') return call
    return isPoll(memory, call.wait, hasClock) ? { ...call, poll: true } : call
  })
  for (const { failure, text, runs } of calls) {
    if (failure === undefined) rememberIds(memory.ids, text)
    if (runs) remember(memory.ids, unnamed, limits.loopIdsMax)
  }
  return all
}

function isPoll({ ids: known }: WaitMemory, wait: Wait, hasClock: boolean): boolean {
  switch (wait.kind) {
    case 'no':
      return false
    case 'own':
      return true
    case 'answer':
      return hasClock
    case 'unknown':
      return hasClock && wait.ids.some((id) => known.has(id))
    default:
      return unreachable(wait)
  }
}

/** Adds the ids that the answer returns. Bounded, and only those at its beginning. */
function rememberIds(ids: Set<string>, text: string): void {
  const beginning = text.slice(0, idsCharsMax)
  if (!/id\b|_id|Id\b|ID\b|session|job|task|process|shell|run /.test(beginning)) return
  for (const [, path] of beginning.matchAll(returnedPath))
    if (path !== undefined) remember(ids, path.replace(/[.,;:)\]]+$/, ''), limits.loopIdsMax)
  for (const [, byName, byNoun] of beginning.matchAll(returnedId)) {
    const id = byName ?? byNoun
    if (id !== undefined) remember(ids, id, limits.loopIdsMax)
  }
}

const idsCharsMax = 1024

/** `"job_id": "a1"`, `PID: 4711`, `with session ID 12`, `shellId: 0`, `Job a-1 started`. */
const returnedId =
  /(?:\b|_)(?:[a-z]{0,16}id|[a-z]{0,16}I[dD]|PID|ID)["']?(?: is)? ?[:=#]? ?["'`]?([\w.:/-]{1,64}\w|\w)|\b(?:session|job|task|process|shell|run) #?["'`]?((?=[a-z_-]*\d)[\w-]{1,64})/gi

/** `Output is being written to: /tmp/b1.output`. */
const returnedPath =
  /\b(?:output|log)s?(?: \w{1,12}){0,3} (?:written|redirected|saved|logged|streamed) (?:to|in):? ["'`]?(\/[^\s"'`]{1,255})/gi
