// Loads a guard's file: a module whose default export is a guard, or a function from options to a
// guard. The module runs in this process, so it is as trusted as Weir.

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyGuard, Guard } from '../shared/contract/guard.ts'
import { registrationFaults } from '../shared/contract/guard-registration.ts'
import type { GuardInForce } from '../shared/contract/messages.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { keyFault } from '../shared/runtime/guards/key-fault.ts'

const guardKeys = Object.keys({
  name: true,
  version: true,
  tools: true,
  deadlineMs: true,
  onTimeout: true,
  stateKeptMs: true,
  external: true,
  judge: true,
} satisfies Record<keyof Guard, true>)

/** `options`: the argument of the function that the file exports. Throws `guard.invalid`. */
export async function loadGuard(file: string, options?: unknown): Promise<AnyGuard> {
  const invalid = (fault: string, cause?: unknown) =>
    new WeirError('guard.invalid', `${file}: ${fault}`, { cause })
  let exported: unknown
  let takesOptions = false
  try {
    exported = ((await import(pathToFileURL(resolve(file)).href)) as { default?: unknown }).default
    takesOptions = typeof exported === 'function'
    if (typeof exported === 'function')
      exported = await exported(options === undefined ? {} : options)
  } catch (error) {
    if (error instanceof WeirError) throw invalid(error.message, error)
    throw invalid(`it cannot be loaded: ${withPlace(error, resolve(file))}`, error)
  }
  if (!takesOptions && options !== undefined)
    throw invalid('it accepts no options: its default export is not a function')
  if (typeof exported !== 'object' || exported === null)
    throw invalid('its default export must be a guard, or a function that returns one')
  const mistakes = [...shapeMistakes(exported)]
  if (mistakes.length > 0) throw invalid(mistakes.join('; '))
  const guard = exported as AnyGuard
  const { name, version, tools, deadlineMs, onTimeout } = guard
  const inForce: GuardInForce = {
    ...{ name, version, deadlineMs, onTimeout, rules: null },
    tools: tools.map((pattern) => ({ pattern, mode: 'shadow' as const })),
  }
  const faults = registrationFaults(inForce)
  if (faults.length > 0) throw invalid(faults.join('; '))
  return guard
}

/** The message of a thrown value, with the first line of its stack that stands in the file. */
function withPlace(error: unknown, file: string): string {
  if (!(error instanceof Error)) return String(error)
  const place = error.stack?.split('\n').find((line) => line.includes(file))
  const line = /:(\d+)(:\d+)?\)?$/.exec(place ?? '')?.[1]
  return line === undefined ? error.message : `${error.message} (line ${line})`
}

/** All mistakes in the guard's members. Their ranges are the registration's to check. */
function* shapeMistakes(guard: Partial<Record<keyof Guard, unknown>>): Generator<string> {
  const unknown = keyFault(guard, guardKeys)
  if (unknown !== undefined)
    yield `the guard has ${unknown}${'mode' in guard ? '. A mode is set by --mode or weir guard mode' : ''}`
  const { name, version, tools, deadlineMs, onTimeout, judge, stateKeptMs, external } = guard
  if (typeof name !== 'string' || typeof version !== 'string')
    yield 'a guard has a name and a version, both text'
  if (!Array.isArray(tools) || !tools.every((pattern) => typeof pattern === 'string'))
    yield 'tools must be a list of patterns'
  if (typeof deadlineMs !== 'number') yield 'deadlineMs must be a number'
  if (onTimeout !== 'reject' && onTimeout !== 'allow') yield "onTimeout must be 'reject' or 'allow'"
  if (typeof judge !== 'function') yield 'judge must be a function'
  if (stateKeptMs !== undefined && !(typeof stateKeptMs === 'number' && stateKeptMs >= 0))
    yield 'stateKeptMs must be a number of milliseconds'
  if (external !== undefined && typeof external !== 'boolean')
    yield 'external must be true or false'
  if (external === true && stateKeptMs !== undefined)
    yield 'an external guard keeps no state: remove stateKeptMs'
}
