// `weir inspect ID`: shows a conversation from the log, beside a running Weir or after it.

import { isBundle } from '../../../shared/bus/bundle/open.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { columnsOfOutput, painted } from '../../terminal/paint.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { listConversations } from '../conversations/conversations.ts'
import { withLog } from '../open-log.ts'
import { agentsOfCalls, printAgents } from './agents-of-calls.ts'
import { existingRecords } from './existing-records.ts'
import { moneyOf, printMoney } from './money-of.ts'
import { pageOf } from './print-timeline.ts'
import { contextTurns } from './recorded.ts'
import { timelineOf } from './timeline-of.ts'

/** `bundle`: reads this file instead of the log that the settings name. */
export type InspectOptions = {
  json?: boolean
  full?: boolean
  reasoning?: boolean
  unredacted?: boolean
  bundle?: string
}

const bundleEnding = '.weir'
/** The most conversations of a bundle to list. */
const conversationsMax = 1_000

/**
 * Runs `weir inspect`: on a conversation, a bundle, or a conversation in a bundle. Throws `usage`
 * too.
 */
export async function inspectAny(
  given: string,
  conversation: ConversationId | undefined,
  settings: Settings,
  options: InspectOptions,
  out: NodeJS.WriteStream,
): Promise<void> {
  const bundle = bundleNamed(given, options)
  const isFile = options.bundle === undefined && bundle !== undefined
  const id = isFile ? conversation : given
  if (!isFile && conversation !== undefined)
    throw usageError(
      `two conversations are named, and ${printable(given)} is not a bundle: give one of them`,
    )
  if (id !== undefined)
    return inspect(id, settings, { ...options, ...(bundle !== undefined && { bundle }) }, out)
  const { json = false, unredacted = false } = options
  return listConversations(
    settings,
    { json, unredacted, limit: `${conversationsMax}`, ...(bundle !== undefined && { bundle }) },
    out,
  )
}

/** The bundle to read. Undefined: read the log. */
export function bundleNamed(
  given: string,
  { bundle }: Pick<InspectOptions, 'bundle'>,
): string | undefined {
  return bundle ?? (given.endsWith(bundleEnding) || isBundle(given) ? given : undefined)
}

/** Prints to `out`. With `json`, prints one Timeline object. Throws `conversation.unknown`. */
export async function inspect(
  conversation: ConversationId,
  settings: Settings,
  { json, full = false, reasoning = false, unredacted, bundle }: InspectOptions,
  out: NodeJS.WriteStream,
): Promise<void> {
  const { timeline, context, agents, money } = await withLog(
    settings,
    async (log) => {
      const records = await existingRecords(conversation, log)
      const context = await contextTurns(conversation, log)
      const timeline = timelineOf(conversation, records, { reasoning, context })
      const money = await moneyOf(timeline, log)
      return { timeline, context, agents: await agentsOfCalls(timeline, log), money }
    },
    { bundle, unredacted, conversation },
  )
  if (json) {
    const beside = {
      ...(agents.length > 0 && { agents }),
      ...(money.length > 0 && { money }),
    }
    out.write(`${printableJson({ ...timeline, ...beside })}\n`)
    return
  }
  const page = pageOf(timeline, { columns: columnsOfOutput(out), full })
  printAgents(page, agents)
  printMoney(page, money)
  if (context.length > 0) {
    page.blank()
    page.line(
      0,
      `Not in the bundle: ${count(context.length, 'earlier turn')}, with only the history as context`,
      'faint',
    )
  }
  for (const { text, tone } of page.lines) out.write(`${painted(out, tone, text)}\n`)
}
