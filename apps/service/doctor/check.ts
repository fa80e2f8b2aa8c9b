// The result of one check of the doctor.

import { type ErrorCode, WeirError } from '../../../shared/lib/errors.ts'

/** warning: it works, but perhaps not as intended. skipped: another problem prevents the check. */
export type Check = {
  name: string
  state: 'ok' | 'warning' | 'wrong' | 'skipped'
  /** The finding, without secrets. It is made printable when it is printed. */
  finding: string
  /** The remedy, if `finding` does not contain it. */
  remedy?: string
}

type State = Check['state']

const finding =
  (state: State) =>
  (name: string, finding: string): Check => ({
    name,
    state,
    finding,
  })
const problem =
  (state: State) =>
  (name: string, finding: string, remedy: string): Check => ({
    name,
    state,
    finding,
    remedy,
  })

export const ok = finding('ok')
export const warning = problem('warning')
export const wrong = problem('wrong')
export const skipped = finding('skipped')

/** A check for each mistake of an error with this code: the lines after its title. Throws other errors. */
export function mistakesIn(
  error: unknown,
  code: ErrorCode,
  nameOf: (mistake: string) => string,
): Check[] {
  if (!(error instanceof WeirError) || error.code !== code) throw error
  const [, ...mistakes] = error.message.split('\n')
  return mistakes.map((mistake) => wrongBy(nameOf(mistake), mistake.trim()))
}

/** Messages of our errors contain the remedy. */
export function wrongBy(name: string, error: unknown): Check {
  return { name, state: 'wrong', finding: error instanceof Error ? error.message : String(error) }
}
