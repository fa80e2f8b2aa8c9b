// One argument of a command line for a POSIX shell. A page shows such lines too, so it imports nothing.

/** As it is, or in quotes: a pattern and a conversation's id can have characters with a meaning. */
export function shellWord(text: string): string {
  return /^[\w:.@/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
