// Recognizes a refusal of calls and results that do not pair up (I5.4). Providers have no code for
// it, so servers use each wording below. Add a new one here and to the test. An unknown wording
// stays a refusal with the provider's text.

/** `status`: the HTTP status, if any. `statement`: the provider's message. */
export type Refusal = { status: number | undefined; statement: string }

const wordings = [
  /`?tool_use`? ids were found without `?tool_result`?/i, // Anthropic: … blocks immediately after: toolu_1.
  /unexpected `?tool_use_id`? found in `?tool_result`?/i, // Anthropic: … blocks: toolu_1. Each `tool_result` block must have a corresponding …
  /each `?tool_use`? (?:block )?must have a (?:corresponding|single) /i, // Anthropic: … `tool_result` block in the next message; … single result.
  /`?tool_use`? ids must be unique/i, // Anthropic.
  /did not find \d+ `?tool_result`? block/i, // Claude on Bedrock: … (s) at the beginning of this message.
  /expected toolresult blocks at /i, // Bedrock Converse: … messages.2.content for the following Ids: tooluse_1.
  /number of toolresult blocks\b.{0,80}\bexceeds the number of tooluse/i, // Bedrock Converse.
  /tooluse blocks? .{0,80}\btoolresult/i,
  /assistant message with ["']?tool_calls["']? must be followed by tool messages/i, // OpenAI, DeepSeek, Qwen.
  /tool_call_ids? did not have response messages/i, // OpenAI.
  /messages? with role ["']?tool["']? must be a response to a prece+ding message with ["']?tool_calls/i, // OpenAI, in its own spelling.
  /no tool (?:output|call) found for (?:function|tool) call/i, // OpenAI Responses: … call_1; … output with call_id call_1.
  /not the same number of function calls and responses/i, // Mistral.
  /unexpected role ["']?\w+["']? after role ["']?\w+/i, // Mistral.
  /expected last role /i, // Mistral: … User or Tool (or Assistant with prefix True) for serving but got assistant.
  /tool call id (?:was|has to be|must be)\b/i, // Mistral: Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.
  /number of function response parts\b.{0,40}\bnumber of function call parts/i, // Gemini.
  /function (?:call|response) turn comes immediately after/i, // Gemini.
  /missing corresponding tool call for tool response/i, // LiteLLM.
]

/** Only if the server refused the request itself, or its error has no status. */
export function saysHistoryRefused({ status, statement }: Refusal): boolean {
  return (
    (status === undefined || status === 400 || status === 422) &&
    wordings.some((wording) => wording.test(statement))
  )
}
