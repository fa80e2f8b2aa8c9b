// A forked session begins with a copy of the session that it continues. A scan counts the copied
// responses once, in the file that it reads first.

import { createHash } from 'node:crypto'
import type { Transcript, TranscriptResponse } from '../../../shared/transcript/transcript.ts'

/** Leaves out the beginning that an earlier transcript of the agent had. Undefined: nothing is left. */
export type OwnResponses = (agent: string, transcript: Transcript) => Transcript | undefined

/** About 100 MB. Copies of the responses after it count again. */
const responsesMax = 500_000

export function createOwnResponses(max = responsesMax): OwnResponses {
  /** Digests of the responses with calls. */
  const seen = new Set<string>()

  return (agent, transcript) => {
    const digests = transcript.turns
      .flatMap(({ responses }) => responses)
      .map((response) => digestOf(agent, response))
    const firstNew = digests.findIndex((digest) => digest !== undefined && !seen.has(digest))
    const beginning = firstNew < 0 ? digests : digests.slice(0, firstNew)
    let copied = beginning.findLastIndex((digest) => digest !== undefined) + 1
    for (const digest of digests) if (digest !== undefined && seen.size < max) seen.add(digest)
    if (copied === 0) return transcript
    if (firstNew < 0) return undefined
    const turns = transcript.turns.flatMap((turn) => {
      const responses = turn.responses.slice(copied)
      copied = Math.max(0, copied - turn.responses.length)
      return responses.length === 0 ? [] : [{ ...turn, responses }]
    })
    return { ...transcript, turns }
  }
}

/** Undefined: a response without calls, whose text other sessions can have too. Ids of calls are random. */
function digestOf(agent: string, { id, text, calls }: TranscriptResponse): string | undefined {
  if (calls.length === 0) return undefined
  const texts = calls.map((call) => [call.id, call.name, call.arguments])
  return createHash('sha256')
    .update(JSON.stringify([agent, id, text, texts]))
    .digest('base64')
}
