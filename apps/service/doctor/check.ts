// The result of one check of the doctor.

/** odd: it works, but perhaps not as intended. skipped: another problem prevents the check. */
export type Check = {
  name: string
  state: 'ok' | 'odd' | 'wrong' | 'skipped'
  /** The finding, without secrets. It is made printable when it is printed. */
  finding: string
  /** The remedy, if `finding` does not contain it. */
  remedy?: string
}

export const ok = (name: string, finding: string): Check => ({ name, state: 'ok', finding })
export const odd = (name: string, finding: string, remedy: string): Check => ({
  name,
  state: 'odd',
  finding,
  remedy,
})
export const wrong = (name: string, finding: string, remedy: string): Check => ({
  name,
  state: 'wrong',
  finding,
  remedy,
})
export const skipped = (name: string, finding: string): Check => ({
  name,
  state: 'skipped',
  finding,
})

/** Messages of our errors contain the remedy. */
export function wrongBy(name: string, error: unknown): Check {
  return { name, state: 'wrong', finding: error instanceof Error ? error.message : String(error) }
}
