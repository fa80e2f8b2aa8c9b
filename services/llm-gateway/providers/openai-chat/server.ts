// What servers of the Chat Completions API do not take, known by their address: most of them copy
// the API as it was when they were written.

/** How a server wants to be asked. */
export type ServerHabits = {
  /** Where the bound on the output stands. */
  outputLimit: 'max_tokens' | 'max_completion_tokens'
  /** Whether usage has to be asked for; the others refuse the question and send it anyway. */
  asksForUsage: boolean
  /** The fields of reasoning that it takes back, and mostly demands. */
  reasoning: ('reasoning_content' | 'reasoning')[]
  /** The ids of calls have to be nine letters and digits. */
  nineCharacterIds: boolean
}

/**
 * `max_tokens` is what every server knows but OpenAI's own, which refuses it for its reasoning
 * models. So an agent with a base URL of its own gets `max_tokens`, unless that is OpenAI's or
 * Azure's.
 *
 * Reasoning goes back in the field in which it came, and as `reasoning_details` wherever it came so
 * (reasoning-details.ts). Those who send `reasoning_content` (DeepSeek, Moonshot) refuse a history
 * in which a turn with calls has lost it; of those who send `reasoning` only OpenRouter passes the
 * demand of others on, and some refuse the field.
 */
export function serverHabits(baseUrl: string | undefined): ServerHabits {
  const host = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  const isAt = (...domains: string[]) =>
    domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
  return {
    outputLimit:
      baseUrl === undefined || isAt('openai.com', 'azure.com')
        ? 'max_completion_tokens'
        : 'max_tokens',
    asksForUsage: !isAt('mistral.ai'),
    reasoning: isAt('openrouter.ai') ? ['reasoning_content', 'reasoning'] : ['reasoning_content'],
    nineCharacterIds: isAt('mistral.ai'),
  }
}
