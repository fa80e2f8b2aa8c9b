// The conversations of a bundle as sessions of the scan.

import type { Transcript, TranscriptResponse } from '../../../shared/transcript/transcript.ts'
import type { RoundTimeline } from '../../../shared/view/timeline.ts'
import { withBundle } from '../../history/open-log.ts'
import { isPlayed } from '../../transcripts/made-up-settings.ts'
import { timelinesIn } from '../judge/bundle-timelines.ts'

/** The agent of bundles, which name several. */
export const bundleAgent = 'weir'

/** Throws `bundle.*`. */
export function bundleSessions<Session>(
  file: string,
  sessionOf: (transcript: Transcript) => Session,
): Promise<Session[]> {
  return withBundle(file, async (log) => {
    const sessions: Session[] = []
    for await (const { conversation, turns } of timelinesIn(log)) {
      const hasTimes = !isPlayed(turns) // an import makes them up
      const played = turns.map(({ text, rounds }) => ({
        user: text ?? '',
        responses: rounds.flatMap((round) => responsesOf(round, hasTimes)),
      }))
      sessions.push(sessionOf({ where: file, conversation, tools: undefined, turns: played }))
    }
    return sessions
  })
}

function responsesOf(
  { response, calls, endedAt }: RoundTimeline,
  hasTimes: boolean,
): TranscriptResponse[] {
  if (response === null) return []
  const { text, reasoning, finish, usage } = response
  const at = hasTimes && endedAt !== null ? { at: endedAt } : {}
  return [
    {
      id: undefined,
      text,
      reasoning: reasoning === null ? [] : [reasoning],
      calls: calls.map(({ id, name, rawArguments, result }) => ({
        id,
        name,
        arguments: rawArguments,
        result:
          result === null
            ? undefined
            : { ...at, text: result.text, isError: result.status !== 'ok' },
      })),
      usage,
      finish,
    },
  ]
}
