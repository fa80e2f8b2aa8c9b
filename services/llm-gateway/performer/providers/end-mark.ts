// Whether the server of an agent's model ends its answers. Some servers send calls and close the stream
// without a finish reason and without an end mark. The setting `model.endMark` declares such a server.
// Without the setting, two such answers in sequence do.
//
// Only answers whose calls are all whole teach it: a cut one may look the same.
// One answer with calls and an end takes the lesson back.

import { limits } from '../../../../shared/contract/limits.ts'
import type { PartEvent } from '../../../../shared/contract/messages.ts'
import { jsonFault } from '../../../../shared/lib/json/json-fault.ts'
import type { AnswerReader } from '../../../../shared/wire/format.ts'

export type LearnedEndMark = {
  /** For the reader of the next answer. */
  endMark(): 'missing' | undefined
  /** The same reader. Learns from the end of its answer. */
  noted(reader: AnswerReader): AnswerReader
}

/** Answers without an end after which the server counts as one that sends none. */
const answersMin = 2

/** `given`: the setting. Kept by the process for each agent, because a server is cheap to learn. */
export function learnedEndMark(given: 'missing' | undefined): LearnedEndMark {
  let without = 0
  return {
    endMark: () => given ?? (without >= answersMin ? 'missing' : undefined),

    noted(reader) {
      const pieces: PartEvent[] = []
      return {
        ...reader,
        read(event, data) {
          const events = reader.read(event, data)
          for (const one of events) if (one.kind === 'call_piece') pieces.push(one)
          return events
        },
        ending(interruption) {
          const ending = reader.ending(interruption)
          if (ending.kind === 'finished' && pieces.length > 0)
            without = ending.lacksEnd && areWhole(pieces) ? without + 1 : 0
          return ending
        },
      }
    },
  }
}

/** The arguments of each call are one JSON object. */
function areWhole(pieces: PartEvent[]): boolean {
  const calls = Map.groupBy(pieces, ({ index }) => index)
  return [...calls.values()].every((ofCall) => {
    const text = ofCall.map((piece) => piece.text).join('')
    return text.trimStart().startsWith('{') && !jsonFault(text, limits.argumentDepthMax)
  })
}
