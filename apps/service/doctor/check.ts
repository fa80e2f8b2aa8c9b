// One thing that the doctor looked at.

/**
 * odd: it works, and may not be what is meant. skipped: it could not be looked at, for another
 * reason that is told.
 */
export type Check = {
  name: string
  state: 'ok' | 'odd' | 'wrong' | 'skipped'
  /** What was found. Printable it is made by who prints it. No secret is ever in it. */
  said: string
  /** What to do about it, where it is odd or wrong and `said` does not say so itself. */
  remedy?: string
}

export const ok = (name: string, said: string): Check => ({ name, state: 'ok', said })
export const odd = (name: string, said: string, remedy: string): Check => ({
  name,
  state: 'odd',
  said,
  remedy,
})
export const wrong = (name: string, said: string, remedy: string): Check => ({
  name,
  state: 'wrong',
  said,
  remedy,
})
export const skipped = (name: string, said: string): Check => ({ name, state: 'skipped', said })

/** Messages of our errors say what to do, too. */
export function wrongBy(name: string, error: unknown): Check {
  return { name, state: 'wrong', said: error instanceof Error ? error.message : String(error) }
}
