// Hermes, Qwen 2.5 and many models trained on them: <tool_call>{"name": …, "arguments":
// {…}}</tool_call>, one tag for each call. Dialects that put other contents into the same tag
// precede this one in the list. This one reports contents that none of them can read.

import type { Dialect } from './dialect.ts'
import { framedJson } from './framed-json.ts'

export const hermes: Dialect = framedJson('hermes', [
  { open: '<tool_call>', close: '</tool_call>' },
])
