// The accepted HTTP headers. Node refuses others too, but only at the first call, and its error
// shows the value.

/** Completes "has ... in it". Undefined: it can be sent. Space around the value is not sent. */
export function headerFault(value: string): string | undefined {
  const sent = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
  if (/[\0\r\n]/.test(sent)) return 'a line end or a NUL character'
  return /[^\t\u0020-\u007e\u0080-\u00ff]/.test(sent)
    ? 'a character that no header can carry'
    : undefined
}

/** agent.schema.json has the same pattern. */
export function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/.test(name)
}
