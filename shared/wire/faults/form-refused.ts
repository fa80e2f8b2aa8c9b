// Recognizes a provider's refusal of tools, or of calls without tools.

import type { Failed } from '../exchange.ts'

/**
 * Whether the provider may have refused the content of the request and not its sender. Any 400 may
 * be about tools: wordings vary, and the request is sent at most once more. `tools`: the message
 * mentions them. `status`: undefined if the error came inside the answer.
 */
export function formRefusedBy({
  status,
  statement,
}: {
  status: number | undefined
  statement: string
}): Failed['formRefused'] {
  const speaksOfTools = /tool|function/i.test(statement)
  if (status === 400 || status === 422) return speaksOfTools ? 'tools' : 'unsaid'
  // OpenRouter: 404, No endpoints found that support the provided 'tool_choice' value.
  return speaksOfTools && (status === undefined || status === 404 || status === 501)
    ? 'tools'
    : undefined
}
