// The headers of a tool's or a model's requests, in an agent file.

import type { Path } from '../../../settings/mistake.ts'
import { expanded, type Source } from '../source.ts'
import { hasVariable } from '../variables.ts'

/** Set by Weir: they describe the body, the connection and the call. */
const reservedHeaders = [
  ...[
    'accept-encoding',
    'connection',
    'content-length',
    'content-type',
    'expect',
    'idempotency-key',
    'keep-alive',
    'te',
    'trailer',
  ],
  ...['transfer-encoding', 'upgrade'],
]
/** The value of such a header is a secret, so it must come from a variable. */
const credentialHeader =
  /^(proxy-)?authorization$|^cookie$|(api|auth|access)[-_]?key|token|secret|password/i

/** `secrets` gets the values of variables that stand in them. */
export function headersOf(
  source: Source,
  path: Path,
  headers: Record<string, string | undefined>,
  secrets: string[],
): Record<string, string> {
  const seen = new Set<string>()
  const sent = Object.entries(headers).flatMap(([name, text]): [string, string][] => {
    if (!isHeaderName(name)) return [] // the schema reports it, without the name, which may be a misplaced value
    const value = headerOf({ source, path: [...path, name], name, text, seen, secrets })
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(sent)
}

type HeaderParts = {
  source: Source
  path: Path
  name: string
  text: string | undefined
  /** The names before, in lower case. */
  seen: Set<string>
  secrets: string[]
}

function headerOf({ source, path, name, text, seen, secrets }: HeaderParts): string | undefined {
  const lower = name.toLowerCase()
  if (seen.has(lower))
    source.refuse(path, 'is given twice; remove one, because header names ignore case')
  seen.add(lower)
  if (reservedHeaders.includes(lower)) source.refuse(path, 'is set by Weir; remove it')
  if (text === undefined) return undefined
  if (source.isCode !== true && credentialHeader.test(name) && !hasVariable(text))
    source.refuse(
      path,
      `holds a credential as plain text; put it into a variable and write \${NAME} here`,
    )
  const value = expanded(source, path, text, secrets)
  const fault = value === undefined ? undefined : headerFault(value)
  if (fault !== undefined)
    source.refuse(
      path,
      `has ${fault} in it${hasVariable(text) ? ', perhaps from its variable' : ''}; remove it`,
    )
  return value
}

// The accepted HTTP headers. Node refuses others too, but only at the first call, and its error
// shows the value.

/** Completes "has ... in it". Undefined: it can be sent. Space around the value is not sent. */
function headerFault(value: string): string | undefined {
  const sent = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
  if (/[\0\r\n]/.test(sent)) return 'a line end or a NUL character'
  return /[^\t\u0020-\u007e\u0080-\u00ff]/.test(sent)
    ? 'a character that no header can carry'
    : undefined
}

/** agent.schema.json has the same pattern. */
function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/.test(name)
}
