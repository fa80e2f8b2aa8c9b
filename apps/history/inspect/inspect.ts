// `weir inspect ID`: shows a conversation from the log, next to a running Weir or after it.

import { newestIds, type ReadableTopics } from '../../../client/history/newest-records.ts'
import { isBundle } from '../../../shared/bus/bundle/open.ts'
import {
  type CallId,
  type ConversationId,
  callOfConversation,
} from '../../../shared/contract/ids.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import { columnsOfOutput, painted } from '../../terminal/paint.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { listConversations } from '../conversations/conversations.ts'
import { withLog } from '../open-log.ts'
import { existingRecords } from './existing-records.ts'
import { moneyOf, printMoney } from './money-of.ts'
import type { Page } from './page.ts'
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

// The conversations in which agents worked on calls of a conversation, as a tree: an agent that is
// a tool may call further agents.

type AgentOfCall = Omit<CallId, 'conversation'> & {
  conversation: ConversationId
  agents: AgentOfCall[]
}

/** Newest conversations among which to look: an inspection must not read the whole log. */
const idsLookedThrough = 1_000

/** Empty without a call that ran. */
async function agentsOfCalls(
  { conversation, turns }: Timeline,
  log: ReadableTopics,
): Promise<AgentOfCall[]> {
  const ran = turns.some(({ rounds }) =>
    rounds.some(({ calls }) => calls.some(({ tries }) => tries.length > 0)),
  )
  return ran ? below(conversation, await newestIds(log, idsLookedThrough)) : []
}

function below(parent: ConversationId, ids: readonly string[]): AgentOfCall[] {
  return ids
    .flatMap((id) => {
      const call = callOfConversation(id)
      if (call?.conversation !== parent) return []
      return [{ ...call, conversation: id, agents: below(id, ids) }]
    })
    .sort((a, b) => a.turn - b.turn || a.round - b.round || a.ordinal - b.ordinal)
}

function printAgents(page: Page, agents: readonly AgentOfCall[], depth = 0): void {
  if (depth === 0 && agents.length > 0) {
    page.blank()
    page.line(0, 'Conversations of agents that its calls asked', 'title')
  }
  for (const { conversation, turn, round, ordinal, agents: further } of agents) {
    const call = `turn at offset ${turn}, round ${round}, call ${ordinal}`
    page.line(2 * (depth + 1), `${conversation} (${call})`)
    printAgents(page, further, depth + 1)
  }
}
