// The messages of an MCP server without concealed text: lists, results, resources, prompts, instructions
// and questions. So a person reviews the same text that the model reads.
// Each message of the server passes here, in front of the SDK.

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { McpServer } from '../../../agents/agents.ts'
import { concealedRefused } from '../../../model-texts/tools.ts'
import { type ConcealedKind, withoutConcealed } from './concealed-text.ts'

/** Changes the messages that the transport delivers. `onConcealed` gets each kind once. */
export function showMessages(
  transport: Transport,
  { concealed }: Pick<McpServer, 'concealed'>,
  onConcealed: (kind: ConcealedKind) => void,
): void {
  const reported = new Set<ConcealedKind>()
  let deliver = transport.onmessage

  function shown(message: JSONRPCMessage): JSONRPCMessage {
    const kinds = new Set<ConcealedKind>()
    const cleaned = cleanedValue(message, kinds) as JSONRPCMessage
    for (const kind of kinds) {
      if (!reported.has(kind)) onConcealed(kind)
      reported.add(kind)
    }
    if (kinds.size === 0) return message
    if (concealed !== 'refuse' || !('result' in cleaned)) return cleaned
    const { jsonrpc, id } = cleaned
    return { jsonrpc, id, error: { code: internalError, message: concealedRefused([...kinds]) } }
  }

  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get() {
      const listener = deliver // a later listener may call this one
      return (
        listener && ((message: JSONRPCMessage, extra: never) => listener(shown(message), extra))
      )
    },
    set(listener: Transport['onmessage']) {
      deliver = listener
    },
  })
}

const internalError = -32603

/** Keys too. An object or a list without concealed text is the same object. */
function cleanedValue(value: unknown, kinds: Set<ConcealedKind>): unknown {
  if (typeof value === 'string') {
    const cleaned = withoutConcealed(value)
    for (const kind of cleaned.kinds) kinds.add(kind)
    return cleaned.text
  }
  if (Array.isArray(value)) return value.map((one) => cleanedValue(one, kinds))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      cleanedValue(key, kinds),
      cleanedValue(member, kinds),
    ]),
  )
}
