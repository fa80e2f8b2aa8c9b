// Token counts of the Responses API in our terms.

import type { Usage } from '../../contract/messages.ts'
import { noUsage } from '../../contract/turn/no-usage.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { countOf, isUnreadable, usageWithCache } from '../token-count.ts'

/** The counts of a cache are parts of the input's. */
export function responsesUsage(usage: Record<string, unknown>): Usage {
  if (isUnreadable(usage.input_tokens) || isUnreadable(usage.output_tokens)) return noUsage
  const details = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  return usageWithCache(
    countOf(usage.input_tokens),
    countOf(usage.output_tokens),
    countOf(details.cached_tokens),
    countOf(details.cache_write_tokens),
  )
}
