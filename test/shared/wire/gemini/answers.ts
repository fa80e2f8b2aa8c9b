// Answers of Gemini for tests, in the forms of Google's documentation: each a list of chunks, as
// `streamGenerateContent` sends them.

type Json = Record<string, unknown>

export const model = 'gemini-3-pro-preview'

/** A chunk with these parts. `finish`: the last one, with the counts of the answer. */
export function chunk(parts: Json[], finish?: string, rest: Json = {}): Json {
  return {
    candidates: [
      {
        content: { parts, role: 'model' },
        ...(finish !== undefined && { finishReason: finish }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 5,
      totalTokenCount: 125,
    },
    modelVersion: model,
    responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
    ...rest,
  }
}

export const text = (content: string, more: Json = {}): Json => ({ text: content, ...more })

export const call = (
  name: string,
  args?: Json,
  { id, sign }: { id?: string; sign?: string } = {},
) => ({
  functionCall: { ...(id !== undefined && { id }), name, ...(args !== undefined && { args }) },
  ...(sign !== undefined && { thoughtSignature: sign }),
})

/** By their names for people. */
export const answers: Record<string, Json[]> = {
  'a text in two chunks, whose signature comes at its end': [
    chunk([text('The capital ')]),
    chunk([text('is Paris.')]),
    chunk([text('', { thoughtSignature: 'c2lnbmF0dXJl' })], 'STOP'),
  ],
  'a call with an id and a signature': [
    chunk([call('check_flight', { flight: 'AA100' }, { id: 'fc_1', sign: 'U2lnIEE=' })]),
    chunk([text('')], 'STOP'),
  ],
  'two calls without ids, of which the first is signed': [
    chunk([call('get_weather', { city: 'Paris' }, { sign: 'U2lnIEI=' })]),
    chunk([call('get_weather', { city: 'London' })]),
    chunk([text('')], 'STOP'),
  ],
  'a summary of thoughts before a text with a call': [
    chunk([text('I should look it up. ', { thought: true })]),
    chunk([text('Let me look.')]),
    chunk([call('read', { path: 'a' }, { id: 'fc_2', sign: 'U2lnIEM=' })], 'STOP'),
  ],
  'a call without arguments': [chunk([call('list_files')], 'STOP')],
}

export const sse = (chunks: Json[]) =>
  chunks.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('')
