// The request that checks a model at OpenAI, or at a server that copies its API.

import type { ModelCheck } from './provider.ts'

export const openaiModelCheck: ModelCheck = ({
  baseUrl = 'https://api.openai.com/v1',
  apiKey,
  path,
}) => ({
  url: `${baseUrl}/models/${path}`,
  headers: { ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }) },
})
