// Checks of options that several functions of the package have. Types keep a program in TypeScript
// from most of these mistakes, and JavaScript has none.

import { guardModes } from '../shared/contract/guard/guard.ts'
import { type ErrorCode, WeirError } from '../shared/lib/errors.ts'
import { alternatives, shown } from '../shared/settings/mistake.ts'
import { mistakesOfGuards } from './guards/guard-mistakes.ts'
import { refuseUnknownKeys } from './known-keys.ts'

type Asked = { code: ErrorCode; subject: string }

/** Throws if the function `subject` has no object of options. `example`: such an object. */
export function needOptions(
  given: unknown,
  { code, subject, example }: Asked & { example: string },
): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return
  throw new WeirError(code, `${subject} needs an object of options, such as ${example}`)
}

/** Throws if an option has a value that is none of `known`. Undefined is the default. */
export function needOneOf(name: string, value: unknown, known: readonly string[]): void {
  if (value === undefined || known.some((one) => one === value)) return
  throw new WeirError(
    'settings.invalid',
    `${name} is ${shown(value)}; must be ${alternatives(known)}`,
  )
}

/** Throws if an option is no text. Undefined is the default. */
export function needText(name: string, value: unknown, code: ErrorCode = 'settings.invalid'): void {
  if (value === undefined || typeof value === 'string') return
  throw new WeirError(code, `${name} is ${shown(value)}; must be a text`)
}

/** Throws `settings.invalid` for a logger without the methods of pino, such as `console`. */
export function needLogger(log: unknown): void {
  if (log === undefined) return
  const missing = ['child', 'debug', 'info', 'warn', 'error'].filter(
    (name) => typeof (log as Record<string, unknown> | null)?.[name] !== 'function',
  )
  if (missing.length === 0) return
  throw new WeirError(
    'settings.invalid',
    `log is ${typeof log === 'object' && log !== null ? `an object without ${alternatives(missing, 'and')}` : shown(log)}; must be a pino logger`,
  )
}

/** Throws if a signal is none. */
export function needSignal(signal: unknown, code: ErrorCode): void {
  if (signal === undefined || signal instanceof AbortSignal) return
  throw new WeirError(code, `signal is ${shown(signal)}; must be an AbortSignal`)
}

/** Throws `settings.invalid` for another form than that of `WeirOptions`, `guard.invalid` for a guard. */
export function checkGuards(
  given: { guards: readonly unknown[]; mode?: string } | undefined,
): void {
  if (given === undefined) return
  const example = "guards: { guards: [yours], mode: 'shadow' }"
  if (Array.isArray((given as { guards?: unknown } | null)?.guards) === false)
    throw new WeirError(
      'settings.invalid',
      `guards is ${shown(given)}; must be an object with a list, such as ${example}`,
    )
  refuseUnknownKeys(given, ['guards', 'mode'], { code: 'settings.invalid', subject: 'guards' })
  needOneOf('guards.mode', given.mode, guardModes)
  const mistakes = mistakesOfGuards(given.guards, 'guards.guards')
  if (mistakes.length > 0) throw new WeirError('guard.invalid', mistakes.join('\n'))
}
