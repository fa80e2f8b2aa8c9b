// The text of a turn as a client without rounds and resets sees it: pieces that only grow.

import type { TurnEvent, TurnFinished } from '../../../client/weir.ts'

export type AnswerPiece =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'end'; finished: TurnFinished }

const separator = '\n\n'

/**
 * The pieces of the events of one turn, the last one is its end. A text that was void stays with the
 * client, and the new text follows as a paragraph. A reply that no round streamed comes at the end.
 */
export async function* answerPieces(events: AsyncIterable<TurnEvent>): AsyncGenerator<AnswerPiece> {
  let paragraph = ''
  let isBroken = false
  for await (const event of events)
    switch (event.type) {
      case 'text-delta':
        yield { kind: 'text', text: isBroken ? separator + event.text : event.text }
        isBroken = false
        paragraph += event.text
        break
      case 'reasoning-delta':
        yield { kind: 'reasoning', text: event.text }
        break
      case 'text-reset':
      case 'round-started':
        isBroken ||= paragraph !== ''
        paragraph = ''
        break
      case 'turn-finished':
        if (event.reply !== '' && paragraph.trim() !== event.reply.trim())
          yield {
            kind: 'text',
            text: isBroken || paragraph !== '' ? separator + event.reply : event.reply,
          }
        yield { kind: 'end', finished: event }
        return
    }
}
