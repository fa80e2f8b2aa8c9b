// The faults of OpenAI, of Azure, and of the servers of Chat Completions, each with an error that was
// seen.
// This folder has the parts that OpenAI's two APIs share. Not here: a part of one API
// (../openai-chat, ../openai-responses).

import { type Faults, type LimitHeaders, near, reasoningPlace } from '../faults/faults.ts'

export const openaiFaults: Faults = {
  'context-full': [
    413,
    'context_length_exceeded',
    'exceed_context_size_error', // llama.cpp
    'model_max_prompt_tokens_exceeded', // GitHub
    /\bmaximum context length\b/i, // OpenAI, vLLM, Mistral, DeepSeek, OpenRouter.
    /\bcontext length (?:is|of) only\b/i, // vLLM since 0.16, LM Studio.
    /\bprompt \(length \d+\) is longer than the maximum model length\b/i, // vLLM, for models with an encoder and without.
    /\bexceeds?\b.{0,40}\bcontext (?:limit|window|length|size)\b/i, // Anthropic, OpenAI, Ollama, llama.cpp.
    /\bcontext (?:window|length|size)\b.{0,20}\bexceed/i, // LM Studio, MiniMax.
    /\b(?:greater|longer|larger) than the (?:model'?s )?(?:maximum )?context (?:length|size|window)\b/i, // LM Studio, SGLang.
    /\bmaximum prompt length\b/i, // xAI.
    /\bexceeded model token limit\b/i, // Kimi.
    /`inputs` (?:tokens \+|must have less than)/i, // Text Generation Inference.
    /\breduce the length of (?:the|your) (?:messages|input|prompt)\b/i, // OpenAI, Groq, vLLM.
  ],
  declined: [
    'content_filter', // Azure
    'content_policy_violation',
    'moderation_blocked',
    'ResponsibleAIPolicyViolation', // Azure
    'data_inspection_failed', // DashScope
    'DataInspectionFailed',
    /\bcontent management policy\b/i, // Azure: The response was filtered due to the prompt triggering Azure OpenAI's content management policy.
    /\bviolat\w+ (?:our|the|openai'?s|its) (?:usage|content) polic/i, // … was flagged as potentially violating our usage policy.
    /\binput was flagged\b/i, // OpenRouter: Your chosen model requires moderation and your input was flagged for "…".
    /\bmay contain inappropriate content\b/i, // DashScope: Input data may contain inappropriate content.
    /\bContent Exists Risk\b/i, // DeepSeek
  ],
  history: [
    /assistant message with ["']?tool_calls["']? must be followed by tool messages/i, // OpenAI, DeepSeek, Qwen.
    /tool_call_ids? did not have response messages/i,
    /messages? with role ["']?tool["']? must be a response to a prece+ding message with ["']?tool_calls/i, // In its own spelling.
    /no tool (?:output|call) found for (?:function|tool) call/i, // Responses: … call_1; … output with call_id call_1.
    /not the same number of function calls and responses/i, // Mistral.
    /unexpected role ["']?\w+["']? after role ["']?\w+/i, // Mistral.
    /expected last role /i, // Mistral: … User or Tool (or Assistant with prefix True) for serving but got assistant.
    /tool call id (?:was|has to be|must be)\b/i, // Mistral: Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.
    /missing corresponding tool call for tool response/i, // LiteLLM.
  ],
  damaged: [
    /\bencrypted[ _]content\b.{0,200}\bcould not be (?:verified|decrypted|parsed)/is,
    /\binvalid_encrypted_content\b/i,
    /\bitem .{0,80}\bof type '(?:reasoning|function_call|message)' was provided without its required\b/i,
  ],
  missing: [
    /\bmust be (?:passed|sent|given) back\b/i, // DeepSeek: The `reasoning_content` in the thinking mode must be passed back to the API.
    near(
      '(?:missing|required|must (?:include|contain|have|be (?:present|provided|included|set)))',
      reasoningPlace,
    ), // Moonshot: thinking is enabled but reasoning_content is missing in assistant tool call message at index 2.
  ],
  unaccepted: [
    near(
      '(?:extra inputs?|extra_forbidden|additional propert|unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:supported|permitted|allowed|accepted|recogni[sz]ed)|cannot find field|does not match any)',
      reasoningPlace,
    ), // Groq, Cerebras: property 'reasoning_content' is unsupported. Mistral: extra_forbidden. Gemini: Unknown name "reasoning".
  ],
  spent: ['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'],
  refused: (
    'invalid_request_error BadRequestError authentication_error AuthenticationError permission_error not_found_error NotFoundError ' +
    'insufficient_quota invalid_api_key model_not_found context_length_exceeded content_policy_violation'
  ).split(' '),
  limited: [429, 'rate_limit_exceeded'],
  output: ['tool_use_failed', 'json_validate_failed', 'output_parse_failed'],
}

export const openaiLimits: readonly LimitHeaders[] = [
  ...['requests', 'tokens'].map((what) => ({
    remaining: `x-ratelimit-remaining-${what}`,
    reset: `x-ratelimit-reset-${what}`,
  })), // OpenAI, Azure, Groq
  { remaining: 'x-ratelimit-remaining', reset: 'x-ratelimit-reset' }, // OpenRouter and many gateways
  { remaining: 'ratelimit-remaining', reset: 'ratelimit-reset' },
]
