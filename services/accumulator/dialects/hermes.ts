// Hermes, Qwen 2.5 and many that learned from them: <tool_call>{"name": …, "arguments":
// {…}}</tool_call>, one tag for each call. Other dialects put something else into the same tag and
// stand before this one in the list; what none of them can read is reported here.

import type { Dialect } from './dialect.ts'
import { framedJson } from './framed-json.ts'

export const hermes: Dialect = framedJson('hermes', [
  { open: '<tool_call>', close: '</tool_call>' },
])
