// Checks of options that several functions of the package have. Types keep a program in TypeScript
// from most of these mistakes, and JavaScript has none.

import { type ErrorCode, WeirError } from '../shared/lib/errors.ts'
import { alternatives, shown } from '../shared/settings/mistake.ts'
import { mistakesOfGuards } from './guard-mistakes.ts'
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
  needOneOf('guards.mode', given.mode, ['shadow', 'enforce'])
  const mistakes = mistakesOfGuards(given.guards, 'guards.guards')
  if (mistakes.length > 0) throw new WeirError('guard.invalid', mistakes.join('\n'))
}
