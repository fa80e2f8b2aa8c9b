// Answers of a model with Gemini's API: whole, or as events with the counts in each chunk.

type Json = Record<string, unknown>

/** `usageMetadata`: with 4 cached tokens of the prompt's 14. */
const usageMetadata = {
  promptTokenCount: 14,
  cachedContentTokenCount: 4,
  candidatesTokenCount: 5,
  totalTokenCount: 19,
}

/** Each part is a chunk, and an empty text ends a stream, as Google does it. */
export function geminiPieces(parts: Json[], isStreamed: boolean, id = 'r1'): string[] {
  const response = (given: Json[], finishReason?: string) => ({
    candidates: [
      {
        content: { parts: given, role: 'model' },
        ...(finishReason !== undefined && { finishReason }),
        index: 0,
      },
    ],
    usageMetadata,
    modelVersion: 'm',
    responseId: id,
  })
  if (!isStreamed) return [JSON.stringify(response(parts, 'STOP'))]
  return [...parts.map((part) => response([part])), response([{ text: '' }], 'STOP')].map(
    (chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`,
  )
}

export const isGeminiStream = (url: string): boolean => url.includes(':streamGenerateContent')

export const isGemini = (url: string): boolean => /:(stream)?generateContent/i.test(url)

/** Whether the request forbids calls. */
export function forbidsCalls(body: Json): boolean {
  const config = body.toolConfig as { functionCallingConfig?: { mode?: string } } | undefined
  return config?.functionCallingConfig?.mode === 'NONE'
}
