// Headers of one connection, which no proxy passes on (RFC 9110, section 7.6.1).

const ofConnection = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'proxy-connection', 'expect'],
])

/**
 * `raw`: names and values in turn, as Node has them. Leaves out the headers of the connection, those that
 * `connection` names, and the `refused` ones, in lower case.
 */
export function withoutConnection(
  raw: readonly string[],
  refused: (name: string) => boolean = () => false,
): string[] {
  const named = namedByConnection(raw)
  const passed: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase()
    const isLength = name === 'content-length'
    if (ofConnection.has(name) || (named.has(name) && !isLength) || refused(name)) continue
    passed.push(raw[at] as string, raw[at + 1] as string)
  }
  return passed
}

function namedByConnection(raw: readonly string[]): Set<string> {
  const named = new Set<string>()
  for (let at = 0; at + 1 < raw.length; at += 2)
    if (raw[at]?.toLowerCase() === 'connection')
      for (const name of (raw[at + 1] ?? '').split(',')) named.add(name.trim().toLowerCase())
  return named
}
