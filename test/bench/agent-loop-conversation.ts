// The conversation that the agent loop's bench runs, as its server plays it and both runners ask
// for it: four rounds with one streamed tool call each, then a streamed answer.

export const callRounds = 4
export const argumentDeltas = 12
export const answerTokens = 40

export const system = 'You look after a warehouse. Answer in one sentence.'
export const question = 'How many of the article are left in the four halls?'
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
