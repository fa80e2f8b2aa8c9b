// Loads a guard's file: a module whose default export is a guard, or a function from options to a
// guard. The module runs in this process, so it is as trusted as Weir.

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { AnyGuard } from '../../shared/contract/guard/guard.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { guardMistakes } from './guard-mistakes.ts'

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
  const mistakes = guardMistakes(exported)
  if (mistakes.length > 0) throw invalid(mistakes.join('; '))
  return exported as AnyGuard
}

/** The message of a thrown value, with the first line of its stack that stands in the file. */
function withPlace(error: unknown, file: string): string {
  if (!(error instanceof Error)) return String(error)
  const place = error.stack?.split('\n').find((line) => line.includes(file))
  const line = /:(\d+)(:\d+)?\)?$/.exec(place ?? '')?.[1]
  return line === undefined ? error.message : `${error.message} (line ${line})`
}
