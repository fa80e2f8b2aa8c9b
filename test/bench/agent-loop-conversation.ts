// The conversation of the agent loop's bench, for its server and both runners: four rounds with one
// streamed tool call each, then a streamed answer.

/** The format of the model's API. */
export type BenchProvider = 'anthropic' | 'openai-chat'

export const callRounds = 4
export const argumentDeltas = 12
export const answerTokens = 40

export const system = 'You look after a warehouse. Answer in one sentence.'
export const question = 'How many of the article are left in the four halls?'
/** As long as a provider's key: a proxy keeps it out of its records. */
export const clientKey = 'sk-bench-6Jq0v4ZtYxkP2mWc8RrLd1Uh'
export const maxOutputTokens = 1_000

export const tool = {
  name: 'count_articles',
  description: 'Counts the articles of one kind in one hall.',
  schema: {
    type: 'object',
    properties: {
      hall: { type: 'integer' },
      article: { type: 'string' },
      note: { type: 'string' },
    },
    required: ['hall', 'article'],
  },
}
