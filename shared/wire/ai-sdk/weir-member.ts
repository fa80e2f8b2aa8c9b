// Weir's own member of a call in the AI SDK's messages.

import { isObject } from '../../lib/json/json-object.ts'

/** The round, the argument text and the refusal of a call. */
export function weirIn(part: object): { round?: unknown; input?: unknown; refusal?: unknown } {
  const metadata =
    ('providerOptions' in part && part.providerOptions) ||
    ('providerMetadata' in part && part.providerMetadata)
  return isObject(metadata) && isObject(metadata.weir) ? metadata.weir : {}
}
