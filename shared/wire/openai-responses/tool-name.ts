// The name of a tool of Responses. A tool can stand in a namespace, and two namespaces can have tools
// of one name.
// A top-level tool and a tool of the same name in a namespace of that name share a name, because
// the provider can send the same call for both.
// Requests, histories and answers give a tool the same name. A rule for one tool counts
// for another only in this pair.

import type { Json } from '../format.ts'

/**
 * `namespace.name`, as the provider's documentation writes it. A call of a top-level tool that a search
 * found has the name as its namespace.
 */
export function toolName({ namespace, name }: Json): unknown {
  const isPlain = typeof namespace !== 'string' || namespace === '' || typeof name !== 'string'
  return isPlain || namespace === name ? name : `${namespace}.${name}`
}

/** The member `name` of a call: its tool without the namespace. */
export function nameInNamespace(tool: string, { namespace }: Json): string {
  const isPlain = typeof namespace !== 'string' || namespace === '' || namespace === tool
  return isPlain ? tool : tool.slice(namespace.length + 1)
}
