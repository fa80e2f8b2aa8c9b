// The place where an open turn is: with the model, a tool, a guard, a person, or the client that runs
// a call. Pure. Of several places the one counts that keeps the turn from going on.

import type { MessageOf } from '../contract/messages.ts'
import { isRunning, type RoundView } from './round-view.ts'
import type { RoundTimeline } from './timeline.ts'
import type { TurnView } from './turn-view.ts'

export type Place =
  | { at: 'model' | 'person' }
  | { at: 'guard' | 'tool'; names: string[] }
  | { at: 'client'; calls: MessageOf<'call-offered'>[] }

/** By the activity: of the newest round. */
export function placeOf({ rounds, round }: TurnView): Place {
  const view = rounds.get(round)
  if (view === undefined) return { at: 'model' }
  if (needsPerson(view)) return { at: 'person' }
  const running = [...view.calls.values()].filter(isRunning)
  const calls = running.flatMap(({ offered }) => offered ?? [])
  if (calls.length > 0) return { at: 'client', calls }
  if (view.awaited.length > 0) return { at: 'guard', names: view.awaited }
  const hasCalls = (view.stage['model-answered']?.message.calls.length ?? 0) > 0
  return hasCalls ? { at: 'tool', names: running.map(({ name = '' }) => name) } : { at: 'model' }
}

/** Of the newest round of a timeline: `check`, while its response or its results are judged. */
export type RoundPlace = { at: 'model' | 'guard' | 'tool' | 'check'; names: string[] }

/** `round`: not over. */
export function placeIn({ response, failure, calls, guards }: RoundTimeline): RoundPlace {
  if (response === null && failure === null) return { at: 'model', names: [] }
  const open = calls.filter(({ result, verdict }) => result === null && verdict.kind === 'allow')
  if (open.length === 0) return { at: 'check', names: [] }
  const awaited = guards.filter(
    ({ answer, calls }) => answer === 'none' && calls.some(({ mode }) => mode === 'enforce'),
  )
  return awaited.length > 0 && open.some(({ tries }) => tries.length === 0)
    ? { at: 'guard', names: awaited.map(({ name }) => name) }
    : { at: 'tool', names: open.map(({ name }) => name) }
}

function needsPerson({ approvals }: RoundView): boolean {
  return approvals.some(({ call, decided }) => call !== undefined && decided === undefined)
}
