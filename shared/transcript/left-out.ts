// Counts the parts of a file that the bundle lacks or has in another form: the kinds, their numbers
// and their first places.

/** `what`: a few words for people. `where`: `file:line path`. */
export type LeftOut = {
  note(what: string, where: string, times?: number): void
  /** Counts a part that the bundle lacks. */
  leave(what: string, where: string, times?: number): void
  /** A line for each kind, in the order of their first places. */
  lines(): string[]
}

/** A file of another format can have a kind for each line. */
const kindsShownMax = 30

export function createLeftOut(): LeftOut {
  const kinds = new Map<string, { times: number; where: string }>()
  function note(what: string, where: string, times = 1): void {
    const known = kinds.get(what)
    if (known !== undefined) known.times += times
    else if (times > 0) kinds.set(what, { times, where })
  }

  return {
    note,
    leave: (what, where, times) => note(`left out: ${what}`, where, times),
    lines() {
      const lines = [...kinds].map(
        ([what, { times, where }]) =>
          `${what} (${times === 1 ? where : `${times} times, first ${where}`})`,
      )
      const more = lines.length - kindsShownMax
      return more > 0 ? [...lines.slice(0, kindsShownMax), `and ${more} further kinds`] : lines
    },
  }
}
