// The records of a conversation with several turns, each as a log of its own has them.

import type { Logged } from '../../../apps/history/inspect/logged.ts'
import { conversationLog, response } from '../history/inspect/conversation-log.ts'

/** A turn has the number of the record that opened it. */
const recordsPerTurn = 10
const turnMs = 100

/** One behind the other, with a pause between two. */
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

/** Of one round, which answers. */
export function answeredTurn(): Logged[] {
  const log = conversationLog()
  const said = response({ text: 'done' })
  log.begin()
  log.ask(1)
  log.answer(1, said)
  log.check(1, said)
  log.conclude(1, said)
  log.end('done')
  return log.records
}
