// Reads the images and files of a history, for one request.
// A content goes to the provider only if its pieces make its hash: a client
// or a tool may write any pieces.

import { hash } from 'node:crypto'
import { contentsFault } from '../../../shared/contract/call/contents.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { Content, HistoryEntry } from '../../../shared/contract/messages.ts'
import type { PerformerContext } from '../../../shared/contract/performer.ts'
import { contentKey } from '../../../shared/contract/topology.ts'
import type { Contents } from '../../../shared/wire/exchange.ts'
import { contentsIn } from '../../../shared/wire/request/contents.ts'

/**
 * The wait of a gateway for the history entry that a request names. No entry, no attempt (R6).
 */
export const historyWaitMs = 30_000

/** A text is the reason why they cannot be read. Rejects if the table cannot be read. */
export async function readContents(
  { kept }: Pick<PerformerContext, 'kept'>,
  history: readonly HistoryEntry[],
): Promise<Contents | string> {
  const read = new Map<string, Uint8Array>()
  for (const entry of history)
    for (const content of contentsIn([entry])) {
      if (read.has(content.hash)) continue
      const fault = contentsFault('the history', [content])
      if (fault !== undefined) return fault
      // Of a fork, the entry may be that of an origin.
      const data = await wholeContent(kept, entry.conversation, content)
      if (data === undefined || hash('sha256', data) !== content.hash)
        return `the image or file ${content.hash.slice(0, 16)} is not in the history with these bytes; send the message again with its images and files`
      read.set(content.hash, data)
    }
  return read
}

async function wholeContent(
  kept: PerformerContext['kept'],
  conversation: ConversationId,
  content: Content,
): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  for (let piece = 0; piece < content.pieces; piece++) {
    const key = contentKey({ conversation, hash: content.hash, piece })
    const message = await kept(key, historyWaitMs)
    if (message?.type !== 'content-kept') return undefined
    pieces.push(message.data)
  }
  return Buffer.concat(pieces)
}
