// The records of a conversation with several turns, each written as a separate log.

import type { Logged } from '../../../shared/view/logged.ts'
import { conversationLog, response } from '../../shared/view/conversation-log.ts'

/** A turn has the offset of its opening record as its number. */
const recordsPerTurn = 10
const turnMs = 100

/** In sequence, with a pause between two turns. */
export function inTurns(turns: Logged[][], pauseMs = 0): Logged[] {
  return turns.flatMap((records, place) => {
    const turn = place * recordsPerTurn
    return records.map(({ message, offset, time, ...rest }) => {
      const own = {
        ...message,
        ...(message !== undefined && 'turn' in message && { turn }),
        ...(message !== undefined && 'messageId' in message && { messageId: `m${place}` }),
      } as Logged['message']
      return {
        ...rest,
        offset: turn + offset,
        time: time + place * (turnMs + pauseMs),
        message: own,
      }
    })
  })
}

/** A turn of one round with an answer. */
export function answeredTurn(): Logged[] {
  const log = conversationLog()
  const reply = response({ text: 'done' })
  log.begin()
  log.ask(1)
  log.answer(1, reply)
  log.check(1, reply)
  log.conclude(1, reply)
  log.end('done')
  return log.records
}
