// A tool with `once`, by the tools' own records of their starts. A call starts only if no other call with
// equal values holds them: one that has no end, ended well, or may have run. A failed call holds nothing.
// Values count together in a conversation and those below it, or in the tenant; a run has one tenant.
// A denial that names an earlier call has one.

import type { OnceRule } from '../../../../shared/contract/messages.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  type Finding,
  recordsOf,
} from '../../evidence.ts'
import { lineOf } from '../trees/trees.ts'
import { type ClearedCall, clearedCalls } from './claims.ts'

type OnceCall = { key: string; values: string; forMs: number }

export const onceEffects: Checker = {
  name: 'once-effects',
  rule: 'A tool with `once` never starts for equal values while an earlier call is ok or may have run.',
  needs: [],
  check(evidence) {
    const calls = onceCalls(evidence)
    if (calls.size === 0) return []
    const cleared = clearedCalls(evidence)
    const holders = new Map<string, { call: OnceCall; at: number }[]>()
    const findings: Finding[] = []
    for (const { call: key, at } of evidence.starts.toSorted((a, b) => a.at - b.at)) {
      const call = calls.get(key)
      if (call === undefined) continue
      const earlier = holders.get(call.values) ?? []
      const holder = earlier.find(
        (one) => one.call.key !== key && at < one.at + one.call.forMs && !isFree(one.call.key, at),
      )
      if (holder !== undefined)
        findings.push({
          problem: `${key} started ${at - holder.at} ms after ${holder.call.key} with equal values`,
          at: cleared.get(key)?.at,
        })
      holders.set(call.values, [...earlier, { call, at }])
    }
    return [...findings, ...withoutHolder(evidence, calls, cleared)]

    /** Whether the call had no effect, as its last claim reported before that time. */
    function isFree(key: string, at: number): boolean {
      const { claims = [], ending } = cleared.get(key) ?? {}
      const end = claims.at(-1)?.end
      return (
        end?.kind === 'reported' && end.time <= at && ending === end.status && failed.has(ending)
      )
    }
  },
}

/** A denial right before the start names an earlier call, so another owner claimed a call with equal values. */
function withoutHolder(
  evidence: Evidence,
  calls: Map<string, OnceCall>,
  cleared: Map<string, ClearedCall>,
): Finding[] {
  const byValues = Map.groupBy(calls.values(), ({ values }) => values)
  return recordsOf(evidence, 'outcome').flatMap((record) => {
    const { result } = record.message
    if (result?.status !== 'denied' || result.guard !== 'once') return []
    if (!/once\.(open|done|may-have-run)/.test(result.reason)) return []
    const key = callKey(record.message, record.message.ordinal)
    const equal = byValues.get(calls.get(key)?.values ?? '') ?? []
    const isHeld = equal.some(
      (one) =>
        one.key !== key && cleared.get(one.key)?.claims.some(({ time }) => time <= record.time),
    )
    return isHeld
      ? []
      : [{ problem: `${key} is denied for an earlier call that never was`, at: addressOf(record) }]
  })
}

const failed = new Set(['error', 'denied', 'skipped'])

function onceCalls(evidence: Evidence): Map<string, OnceCall> {
  const calls = new Map<string, OnceCall>()
  for (const { message } of recordsOf(evidence, 'round-cleared'))
    for (const { ordinal, name, raw } of message.calls) {
      const rule = message.declarations.find((one) => one.name === name)?.hints?.once ?? undefined
      const values = rule && valuesOf(raw, rule)
      if (rule === undefined || values === undefined) continue
      const scope = rule.within === 'tenant' ? '' : lineOf(message.conversation).at(-1)
      const key = callKey(message, ordinal)
      calls.set(key, { key, values: JSON.stringify([scope, name, values]), forMs: rule.forMs })
    }
  return calls
}

/** Undefined: the arguments are no object, so the call never starts. The arguments of a run are flat. */
function valuesOf(raw: string, { by }: OnceRule): unknown[] | undefined {
  try {
    const all = JSON.parse(raw === '' ? '{}' : raw) as Record<string, unknown>
    const names = by.length === 0 ? Object.keys(all).toSorted() : by
    return names.map((name) => [name, all[name] ?? null])
  } catch {
    return undefined
  }
}
