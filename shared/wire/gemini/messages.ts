// A history as Gemini's contents. Owns: valid contents for any history. Does not own: the words
// (utterances.ts), signatures (signed-parts.ts), the rest of the request (request.ts).
//
// A content with calls is followed by one with exactly as many results, in the
// same order. Gemini refuses anything else (I5.4).
// Equal entries give equal contents, and more entries only append, for the
// prompt cache. User texts in a row become one content.
// A call has an id only if its model gave it one. Otherwise name and order pair a
// result with its call.

import type { Content, HistoryEntry, ReasoningRefusal } from '../../contract/messages.ts'
import type { Contents } from '../exchange.ts'
import type { Json } from '../format.ts'
import { type SentContent, sentContents } from '../request/contents.ts'
import {
  type CallIds,
  inputOf,
  type SpokenCall,
  usableName,
  utterances,
} from '../request/utterances.ts'
import { sentParts } from './signed-parts.ts'

/** A content of the conversation. */
export type GeminiContent = { role: 'user' | 'model'; parts: Json[] }

const callIds: CallIds = { taken: /^[\x21-\x7e]{1,128}$/, made: (place) => place }

/** `rebuilt`: see ProviderRequest. */
export type HowSaid = {
  model: string
  refused: ReasoningRefusal
  rebuilt: boolean
  contents: Contents | undefined
}

/** `history` in order of turn and round. */
export function geminiContents(history: HistoryEntry[], how: HowSaid): GeminiContent[] {
  const contents: GeminiContent[] = []
  for (const utterance of utterances(history, callIds)) {
    if (utterance.by === 'user') addUser(contents, userParts(utterance, how.contents))
    else {
      const { text, calls, thinking } = utterance
      const refused = how.rebuilt ? 'damaged' : how.refused
      const parts = calls.map((spoken) => ({ functionCall: callOf(spoken, how.rebuilt) }))
      contents.push({
        role: 'model',
        parts: sentParts({ text, calls: parts, blocks: thinking }, { model: how.model, refused }),
      })
      if (calls.length > 0)
        contents.push({ role: 'user', parts: calls.flatMap((spoken) => resultOf(spoken, how)) })
    }
  }
  return contents
}

/** A text never joins results. */
function addUser(contents: GeminiContent[], parts: Json[]): void {
  const last = contents.at(-1)
  const isText = last?.role === 'user' && last.parts.every((part) => !('functionResponse' in part))
  if (isText) last.parts.push(...parts)
  else contents.push({ role: 'user', parts })
}

function userParts(
  { text, contents }: { text: string; contents?: Content[] },
  known: Contents | undefined,
): Json[] {
  return [...sentContents(contents, known).map(partOf), { text }]
}

function partOf(content: SentContent): Json {
  if (content.kind === 'text') return { text: content.text }
  return { inlineData: { mimeType: content.mediaType, data: content.base64 } }
}

function callOf(spoken: SpokenCall, rebuilt: boolean): Json {
  return { ...namedBy(spoken, rebuilt), args: inputOf(spoken.call) }
}

function namedBy({ id, call }: SpokenCall, rebuilt: boolean): Json {
  const name = usableName(call.name, 64)
  return call.id === '' || rebuilt ? { name } : { id, name }
}

/** The images of a result stand after it, in the same content. */
function resultOf(spoken: SpokenCall, { rebuilt, contents }: HowSaid): Json[] {
  const { text, isError, contents: own } = spoken.result
  const response = isError ? { error: text } : { output: text }
  return [
    { functionResponse: { ...namedBy(spoken, rebuilt), response } },
    ...sentContents(own, contents).map(partOf),
  ]
}
