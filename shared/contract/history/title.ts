// The title of a conversation, for lists. A client gives it. Without a title, the first words of the
// first message stand in.

import { halfPair } from '../ids.ts'

/** A title of a conversation. */
const titleBytesMax = 256

/** Undefined: a conversation may have this title. An empty one removes the title. */
export function titleFault(title: string): string | undefined {
  const bytes = Buffer.byteLength(title)
  if (bytes > titleBytesMax) return `has ${bytes} bytes; at most ${titleBytesMax} are allowed`
  if (!title.isWellFormed()) return halfPair
  if (title !== '' && title.trim() === '') return 'is blank; an empty text removes the title'
  return /\p{Cc}/u.test(title) ? 'has a control character or a line end; remove it' : undefined
}

export function isPossibleTitle(title: string): boolean {
  return titleFault(title) === undefined
}
