// The mistakes of a guard before it is registered: in a file of it, and in a program.

import type { AnyGuard, Guard } from '../../shared/contract/guard/guard.ts'
import { registrationFaults } from '../../shared/contract/guard/guard-registration.ts'
import { keyFault } from '../../shared/runtime/guards/key-fault.ts'
import { kindOf, shown } from '../../shared/settings/mistake.ts'

const guardKeys = Object.keys({
  name: true,
  version: true,
  tools: true,
  deadlineMs: true,
  onTimeout: true,
  stateKeptMs: true,
  seesEnds: true,
  external: true,
  judge: true,
} satisfies Record<keyof Guard, true>)

/** All mistakes, each with its value. The ranges are checked once every type is right. */
export function guardMistakes(given: object): string[] {
  const ofShape = [...shapeMistakes(given)]
  if (ofShape.length > 0) return ofShape
  const { name, version, tools, deadlineMs, onTimeout } = given as AnyGuard
  return registrationFaults({
    name,
    version,
    deadlineMs,
    onTimeout,
    rules: null,
    tools: tools.map((pattern) => ({ pattern, mode: 'shadow' as const })),
  })
}

/** The mistakes of a program's guards, each with its place. */
export function mistakesOfGuards(guards: readonly unknown[], path: string): string[] {
  const places = new Map<unknown, string>()
  return guards.flatMap((guard, at) => {
    const place = `${path}[${at}]`
    if (typeof guard !== 'object' || guard === null || Array.isArray(guard))
      return [`${place} ${stated(guard)}; must be a guard`]
    const { name } = guard as { name?: unknown }
    const earlier = places.get(name)
    if (earlier === undefined && name !== undefined) places.set(name, place)
    return [
      ...guardMistakes(guard).map((mistake) => `${place}: ${mistake}`),
      ...(earlier === undefined
        ? []
        : [
            `${place}.name is ${shown(name)}, as is that of ${earlier}; each guard has its own name`,
          ]),
    ]
  })
}

/** All mistakes in the guard's members. Their ranges are the registration's to check. */
function* shapeMistakes(guard: Partial<Record<keyof Guard, unknown>>): Generator<string> {
  const unknown = keyFault(guard, guardKeys)
  if (unknown !== undefined)
    yield `the guard has ${unknown}${'mode' in guard ? '. A mode is set by --mode or weir guard mode' : ''}`
  const { name, version, tools, deadlineMs, onTimeout, judge, stateKeptMs, seesEnds, external } =
    guard
  if (typeof name !== 'string') yield `name ${stated(name)}; must be a text`
  if (typeof version !== 'string') yield `version ${stated(version)}; must be a text`
  if (!Array.isArray(tools)) yield `tools ${stated(tools)}; must be a list of patterns`
  else
    for (const [at, pattern] of tools.entries())
      if (typeof pattern !== 'string') yield `tools[${at}] ${stated(pattern)}; must be a pattern`
  if (typeof deadlineMs !== 'number') yield `deadlineMs ${stated(deadlineMs)}; must be a number`
  if (onTimeout !== 'deny' && onTimeout !== 'allow')
    yield `onTimeout ${stated(onTimeout)}; must be 'deny' or 'allow'`
  if (typeof judge !== 'function') yield `judge ${stated(judge)}; must be a function`
  if (stateKeptMs !== undefined && !(typeof stateKeptMs === 'number' && stateKeptMs >= 0))
    yield `stateKeptMs ${stated(stateKeptMs)}; must be a number of milliseconds`
  if (seesEnds !== undefined && typeof seesEnds !== 'boolean')
    yield `seesEnds ${stated(seesEnds)}; must be true or false`
  if (external !== undefined && typeof external !== 'boolean')
    yield `external ${stated(external)}; must be true or false`
  if (external === true && stateKeptMs !== undefined)
    yield 'an external guard keeps no state: remove stateKeptMs'
  if (external === true && seesEnds === true)
    yield 'an external guard keeps no state, and sees no ends: remove seesEnds'
}

function stated(value: unknown): string {
  if (value === undefined) return 'is missing'
  return `is ${typeof value === 'function' ? kindOf(value) : shown(value)}`
}
