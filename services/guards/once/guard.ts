// The once guard: denies a call of a `once` tool if an equal call of the conversation ran or may have
// run. The denial has the earlier result.
// Owns: the earlier calls by their values.
// Does not own: the rule of a tool (agent file, defineTool), the ends of calls (call-ends.ts), equal calls
// of other conversations (shared/runtime/budgets/once-table.ts).
//
// A passed call holds its values until the end promises no effect: the call failed, was denied or
// was skipped. Every other end, and none, holds them (test/models/once.py).
// Calls of the conversation and of the agents that its calls ask hold values together.
// A full memory denies: a forgotten call could run twice (R6, R7).

import type {
  EndedCall,
  Guard,
  GuardedCall,
  GuardedRound,
  Verdict,
} from '../../../shared/contract/guard/guard.ts'
import { onceGuard as guardName, onceRuleOf } from '../../../shared/contract/guard/once-guard.ts'
import { onceHash, shortHash } from '../../../shared/contract/guard/once-hash.ts'
import { type CallId, callKey } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { cutToBytes } from '../../../shared/lib/text-cut.ts'
import { onceDone, onceFull, onceMayHaveRun, onceOpen } from '../../../shared/model-texts/once.ts'
import { keyFault } from '../../../shared/runtime/guards/key-fault.ts'

export type OnceGuardOptions = {
  /** Patterns of the tools that it judges. Default: all. Only those with `once` are ever denied. */
  tools?: string[]
}

/** `call`: a hash of its id. `until`: the time from which the values are free. `text`: of a result. */
type Held = { call: string; until: number; status: 'open' | 'done' | 'unknown'; text?: string }

/** By the hash of a tool and values, oldest first. */
export type OnceState = { [values: string]: Held }

/** The memory must fit limits.guardStateBytesMax with all results. */
const heldMax = 250
const textsMax = 5
const textBytesMax = 1_000

/** Throws a WeirError (settings.invalid) for unusable options. */
export default function onceGuard(options: OnceGuardOptions = {}): Guard<OnceState> {
  const unknown = keyFault(options, ['tools'])
  if (unknown !== undefined)
    throw new WeirError('settings.invalid', `the once guard's options have ${unknown}`)
  return {
    name: guardName,
    version: '1',
    tools: options.tools ?? ['*'],
    deadlineMs: 5_000,
    onTimeout: 'deny',
    stateKeptMs: limits.onceMsMax,
    seesEnds: true,
    judge,
  }
}

function judge(
  before: OnceState | undefined,
  round: GuardedRound,
): { state: OnceState | undefined; verdicts: Verdict[] } {
  const held = new Map(Object.entries(before ?? {}).filter(([, { until }]) => until > round.time))
  for (const end of round.ended) applyEnd(held, end)
  const verdicts = round.calls.map((call) => verdictOn(held, call, round))
  return { state: held.size === 0 ? undefined : stateOf(held), verdicts }
}

function applyEnd(held: Map<string, Held>, { status, text, ...id }: EndedCall): void {
  const call = idOf(id)
  for (const [values, one] of held) {
    if (one.call !== call) continue
    if (status === 'error' || status === 'denied' || status === 'skipped') held.delete(values)
    else if (status === 'ok')
      held.set(values, { ...one, status: 'done', text: cutToBytes(text, textBytesMax) })
    else held.set(values, { ...one, status: 'unknown' })
  }
}

function verdictOn(held: Map<string, Held>, call: GuardedCall, round: GuardedRound): Verdict {
  const { ordinal, name, rawArguments, declaration } = call
  const rule = onceRuleOf(declaration)
  if (rule === undefined) return { ordinal, verdict: 'allow' }
  const values = onceHash({ name, rawArguments, hints: declaration.hints }, rule)
  const { conversation, turn, round: nth } = round
  const id = idOf({ conversation, turn, round: nth, ordinal })
  const earlier = held.get(values)
  if (earlier !== undefined && earlier.call !== id) return denial(call, earlier)
  if (earlier === undefined && held.size >= heldMax)
    return { ordinal, verdict: 'deny', code: 'once.full', text: onceFull(heldMax) }
  held.set(values, { call: id, until: round.time + rule.forMs, status: 'open' })
  return { ordinal, verdict: 'allow' }
}

function denial({ ordinal, name }: GuardedCall, { status, text = '' }: Held): Verdict {
  const deny = { ordinal, verdict: 'deny' as const }
  switch (status) {
    case 'done':
      return { ...deny, code: 'once.done', text: onceDone(name, text) }
    case 'unknown':
      return { ...deny, code: 'once.may-have-run', text: onceMayHaveRun(name) }
    case 'open':
      return { ...deny, code: 'once.open', text: onceOpen(name) }
  }
}

/** Keeps the newest results only. The older calls are still held. */
function stateOf(held: Map<string, Held>): OnceState {
  const texts = [...held.values()].filter(({ text }) => text !== undefined)
  for (const old of texts.slice(0, -textsMax)) delete old.text
  return Object.fromEntries(held)
}

function idOf(id: CallId): string {
  return shortHash(callKey(id))
}
