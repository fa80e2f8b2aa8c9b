// The images and files of a request in the words that all providers share: base64, a data URL, the
// text of a text file. Each provider's messages place them.

import { contentNote } from '../../contract/call/contents.ts'
import type { Content, HistoryEntry } from '../../contract/messages.ts'
import type { Contents } from '../exchange.ts'

/** `text`: of a text file, or the note of a content whose bytes are not known here. */
export type SentContent =
  | { kind: 'text'; text: string }
  | { kind: 'image' | 'pdf'; name: string; mediaType: string; base64: string }

export function sentContents(
  contents: readonly Content[] | undefined,
  known: Contents | undefined,
): SentContent[] {
  return (contents ?? []).map((content) => sentContent(content, known))
}

function sentContent(content: Content, known: Contents | undefined): SentContent {
  const { hash, mediaType, name } = content
  const data = known?.get(hash)
  if (data === undefined) return { kind: 'text', text: contentNote(content) }
  if (mediaType === 'text/plain')
    return {
      kind: 'text',
      text: `File ${JSON.stringify(name)}:\n${new TextDecoder().decode(data)}`,
    }
  const kind = mediaType === 'application/pdf' ? 'pdf' : 'image'
  return { kind, name, mediaType, base64: Buffer.from(data).toString('base64') }
}

export function dataUrl({ mediaType, base64 }: { mediaType: string; base64: string }): string {
  return `data:${mediaType};base64,${base64}`
}

/** The contents that the history names, in its order, with repeats. */
export function contentsIn(history: readonly HistoryEntry[]): Content[] {
  return history.flatMap(({ contents, results }) => [
    ...contents,
    ...results.flatMap((result) => result.contents),
  ])
}
