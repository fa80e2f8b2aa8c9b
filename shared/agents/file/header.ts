// What an HTTP header can be. Node refuses the rest too, but only when the first call is made, and
// with the value in its words.

/**
 * Completes "has ... in it"; undefined: it can be sent. Space around the value does not count: it
 * is not sent.
 */
export function headerFault(value: string): string | undefined {
  const sent = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
  if (/[\0\r\n]/.test(sent)) return 'a line end or a NUL character'
  return /[^\t\u0020-\u007e\u0080-\u00ff]/.test(sent)
    ? 'a character that no header can carry'
    : undefined
}

/** agent.schema.json says the same. */
export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/.test(name)
}
