// Limits of servers of the Chat Completions API, by their address. Most servers copied an early
// version of the API.

/** The form of requests that a server accepts. */
export type ServerHabits = {
  /** The field of the output limit. */
  outputLimit: 'max_tokens' | 'max_completion_tokens'
  /**
   * Whether a request must ask for usage. The other servers refuse the option and send usage
   * anyway.
   */
  asksForUsage: boolean
  /** Call ids must be nine letters and digits. */
  nineCharacterIds: boolean
}

/**
 * Every server accepts `max_tokens`, except that OpenAI refuses it for reasoning models. So every
 * base URL other than OpenAI's and Azure's gets `max_tokens`.
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
    nineCharacterIds: isAt('mistral.ai'),
  }
}
