// `weir inspect ID`: what happened in a conversation, from the log, beside a running Weir or after it.

import type { Settings } from '../../../shared/settings.ts'
import type { OpenLog } from '../open-log.ts'
import { withLog } from '../open-log.ts'
import { columnsOfOutput, painted } from '../terminal/paint.ts'
import { printableJson } from '../terminal/printable.ts'
import { knownRecords } from './known-records.ts'
import { pageOf } from './print-timeline.ts'
import type { Timeline } from './timeline.ts'
import { timelineOf } from './timeline-of.ts'

export type InspectOptions = { json?: boolean; full?: boolean; reasoning?: boolean }

/** Prints to `out`; with `json` one object, a Timeline. Throws `conversation.unknown`. */
export async function inspect(
  conversation: string,
  settings: Settings,
  { json, full = false, reasoning = false }: InspectOptions,
  out: NodeJS.WriteStream,
): Promise<void> {
  const timeline = await withLog(settings, (log) => readTimeline(conversation, log, reasoning))
  if (json) {
    out.write(`${printableJson(timeline)}\n`)
    return
  }
  const { lines } = pageOf(timeline, { columns: columnsOfOutput(out), full })
  for (const { text, tone } of lines) out.write(`${painted(out, tone, text)}\n`)
}

async function readTimeline(conversation: string, log: OpenLog, reasoning: boolean): Promise<Timeline> {
  return timelineOf(conversation, await knownRecords(conversation, log), { reasoning })
}
