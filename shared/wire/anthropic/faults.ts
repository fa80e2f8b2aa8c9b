// The faults of Anthropic and of Bedrock, each with an error that was seen.

import type { Faults, LimitHeaders } from '../faults/faults.ts'

export const anthropicFaults: Faults = {
  'context-full': [
    'request_too_large', // Over 32 MB, for any model.
    /\bprompt is too long\b/i, // prompt is too long: 213462 tokens > 200000 maximum.
    /\binput is too long\b/i, // Bedrock.
  ],
  declined: [
    /\bblocked by (?:our )?content (?:filtering|management) policy\b/i, // Output blocked by content filtering policy
  ],
  history: [
    /`?tool_use`? ids were found without `?tool_result`?/i, // … blocks immediately after: toolu_1.
    /unexpected `?tool_use_id`? found in `?tool_result`?/i, // … blocks: toolu_1. Each `tool_result` block must have a corresponding …
    /each `?tool_use`? (?:block )?must have a (?:corresponding|single) /i, // … `tool_result` block in the next message; … single result.
    /`?tool_use`? ids must be unique/i,
    /did not find \d+ `?tool_result`? block/i, // Claude on Bedrock: … (s) at the beginning of this message.
    /expected toolresult blocks at /i, // Bedrock Converse: … messages.2.content for the following Ids: tooluse_1.
    /number of toolresult blocks\b.{0,80}\bexceeds the number of tooluse/i, // Bedrock Converse.
    /tooluse blocks? .{0,80}\btoolresult/i,
  ],
  damaged: [
    /\binvalid `?signature`? in `?thinking`?/i, // messages.1.content.0: Invalid `signature` in `thinking` block.
    /\bthinking\.signature\b.{0,40}\bfield required/i,
    /\bthinking`? .{0,40}blocks? .{0,60}\bcannot be modified/i, // … in the latest assistant message …
    /\beach thinking block must contain\b/i,
  ],
  refused: ['billing_error'],
  limited: [429, 'rate_limit_error', 'throttlingException', 'ThrottlingException'],
  overloaded: [529, 'overloaded_error'],
  missing: [/\bexpected `?thinking`? or `?redacted_thinking`?,? but found\b/i],
}

export const anthropicLimits: readonly LimitHeaders[] = [
  'requests',
  'tokens',
  'input-tokens',
  'output-tokens',
].map((what) => ({
  remaining: `anthropic-ratelimit-${what}-remaining`,
  reset: `anthropic-ratelimit-${what}-reset`,
}))
