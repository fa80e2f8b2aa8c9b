// The conversations of a bundle, to be judged.

import type { Bundle } from '../../../shared/bus/bundle/bus.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import { contextTurns, recordsOf } from '../../history/inspect/recorded.ts'
import { timelineOf } from '../../history/inspect/timeline-of.ts'
import type { OpenLog } from '../../history/open-log.ts'

export function conversationsIn(log: OpenLog): ReadonlySet<string> {
  return new Set([...(log.bundle as Bundle).turns()].map(({ conversation }) => conversation))
}

/** A rule may compare values that a redaction makes equal, so no value is hidden. */
export async function* timelinesIn(log: OpenLog): AsyncGenerator<Timeline> {
  for (const conversation of conversationsIn(log)) {
    const context = await contextTurns(conversation, log)
    const records = await recordsOf(conversation, { ...log, unredacted: true })
    yield timelineOf(conversation, records, { reasoning: true, context })
  }
}
