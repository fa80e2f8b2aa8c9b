// Answers of a model with Ollama's API: whole, or as an object a line. An empty text ends a stream.

type Json = Record<string, unknown>

const about = { model: 'm', created_at: '2026-01-02T03:04:05.678Z' }
const counts = { total_duration: 9, prompt_eval_count: 14, eval_count: 5 }

export const isOllama = (url: string): boolean => url.endsWith('/api/chat')

/** The API streams if the request does not say otherwise. */
export const isOllamaStream = (url: string, body: { stream?: unknown }): boolean =>
  isOllama(url) && body.stream !== false

/** `messages`: the objects of a stream. A whole answer joins them. */
export function ollamaPieces(messages: Json[], isStreamed: boolean): string[] {
  const line = (message: Json, end: Json) =>
    `${JSON.stringify({ ...about, message: { role: 'assistant', content: '', ...message }, ...end })}\n`
  const ended = { done: true, done_reason: 'stop', ...counts }
  if (!isStreamed) return [line(Object.assign({}, ...messages) as Json, ended)]
  return [...messages.map((message) => line(message, { done: false })), line({}, ended)]
}

/** A call with an id, as newer servers send it. `id` empty: as older ones do. */
export const ollamaCall = (id: string, args: unknown) => ({
  ...(id !== '' && { id }),
  function: { index: 0, name: 'exec', arguments: args },
})

/** The API forbids calls by a request without tools. */
export const offersTools = ({ tools }: Json): boolean => Array.isArray(tools) && tools.length > 0
