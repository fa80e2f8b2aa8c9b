// The text of a turn as a client without rounds and resets sees it: pieces that only grow. Pure: events
// in, pieces out.

import type { TurnEvent, TurnFinished } from '../../../../client/weir.ts'
import { createTurnCalls, type OpenCall } from './turn-calls.ts'
import type { TurnFold } from './turn-chunks.ts'
import { type TurnData, turnData } from './turn-data.ts'

export type AnswerPiece =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  /** The answer ends with calls that the client runs. */
  | { kind: 'calls'; calls: Pick<OpenCall, 'callId' | 'name' | 'rawArguments'>[] }
  | { kind: 'end'; finished: TurnFinished; data: TurnData }

const separator = '\n\n'

/**
 * The last piece is the end, or the client's calls. A text that was void stays with the client, and the
 * new text follows as a paragraph. A reply that no round streamed comes at the end.
 */
export function createAnswerFold(): TurnFold<AnswerPiece> {
  const calls = createTurnCalls()
  let paragraph = ''
  let isBroken = false

  function piecesOf(event: TurnEvent): AnswerPiece[] {
    switch (event.type) {
      case 'text-delta': {
        const text = isBroken ? separator + event.text : event.text
        isBroken = false
        paragraph += event.text
        return [{ kind: 'text', text }]
      }
      case 'reasoning-delta':
        return [{ kind: 'reasoning', text: event.text }]
      case 'text-reset':
      case 'round-started':
        isBroken ||= paragraph !== ''
        paragraph = ''
        return []
      case 'turn-finished': {
        const { reply } = event
        const isShown = reply === '' || paragraph.trim() === reply.trim()
        const text = isBroken || paragraph !== '' ? separator + reply : reply
        return [
          ...(isShown ? [] : [{ kind: 'text' as const, text }]),
          { kind: 'end', finished: event, data: turnData(event, calls) },
        ]
      }
      default:
        return []
    }
  }

  return {
    add(event) {
      calls.see(event)
      return piecesOf(event)
    },
    paused: calls.paused,
    start() {
      paragraph = ''
      isBroken = false
      return []
    },
    pause: () => [{ kind: 'calls', calls: calls.all().filter(({ offer }) => offer !== undefined) }],
  }
}
