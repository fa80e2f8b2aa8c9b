// The models of an agent in a program. A key comes from the environment by default, as in an agent
// file, and one server's key never goes to another.

import type { ProviderName } from '../../services/llm-gateway/performer/providers/providers.ts'

/** The model of an agent, as an agent file writes it. */
export type DefinedModel = Readonly<
  { provider: ProviderName; name: string } & (
    | AnthropicOptions
    | OpenaiOptions
    | OpenaiChatOptions
    | GeminiOptions
  )
>

export type ModelOptions = {
  /** Another server that speaks the same API. Default: the provider's own. */
  baseUrl?: string
  /** The key. Default: that of the environment; with `baseUrl`, none. */
  apiKey?: string
  /** Tokens of one response. Default: 8192. */
  maxOutputTokens?: number
  /** Default: the provider's own. */
  temperature?: number
  /** The share of probable tokens to choose from. Default: the provider's own. */
  topP?: number
  /** Further headers of its requests. */
  headers?: Record<string, string>
  /**
   * Sends the requests, as the global `fetch` does: for a proxy of yours, or a test. It sees the key.
   * Default: Weir's own HTTP client.
   */
  fetch?: typeof globalThis.fetch
  /** `text`: the request asks a model without native tool calls to write them as text. */
  toolCalls?: 'native' | 'text'
  /**
   * `missing`: the server sends calls, and then neither a finish reason nor an end mark. Only for
   * `openai-chat`.
   */
  endMark?: 'missing'
  /**
   * Limits of its requests, over all processes of a log. Processes with the same server, key and model
   * share them.
   */
  limits?: { requestsAtOnce?: number; requestsPerMinute?: number; tokensPerMinute?: number }
}

export type AnthropicOptions = ModelOptions & {
  reasoningEffort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max'
  serviceTier?: 'auto' | 'standard_only'
}

export type OpenaiOptions = ModelOptions & {
  reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
  serviceTier?: 'auto' | 'default' | 'flex' | 'scale' | 'priority' | 'fast'
}

/** `seed`: for repeatable sampling. */
export type OpenaiChatOptions = OpenaiOptions & { seed?: number }

export type GeminiOptions = ModelOptions & {
  reasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
  serviceTier?: 'standard' | 'flex' | 'priority'
  seed?: number
}

/** A model of Anthropic's Messages API. Key: ANTHROPIC_API_KEY. */
export function anthropic(name: string, options: AnthropicOptions = {}): DefinedModel {
  return { provider: 'anthropic', name, ...options }
}

/** A model of OpenAI's Responses API. Key: OPENAI_API_KEY. */
export function openai(name: string, options: OpenaiOptions = {}): DefinedModel {
  return { provider: 'openai-responses', name, ...options }
}

/** A model of OpenAI's Chat Completions API, or of a server that speaks it. Key: OPENAI_API_KEY. */
export function openaiChat(name: string, options: OpenaiChatOptions = {}): DefinedModel {
  return { provider: 'openai-chat', name, ...options }
}

/** A model of the Gemini API. Key: GEMINI_API_KEY. */
export function gemini(name: string, options: GeminiOptions = {}): DefinedModel {
  return { provider: 'gemini', name, ...options }
}
