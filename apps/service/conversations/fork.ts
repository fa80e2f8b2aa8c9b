// `weir fork`: a new conversation that continues another one.

import { forkConversation } from '../../../client/conversation/fork.ts'
import { partitionCount } from '../../../client/place/open-bus.ts'
import { type ConversationId, parseConversationId } from '../../../shared/contract/ids.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { existingRecords } from '../../history/inspect/existing-records.ts'
import { timelineOf, turnNumbered } from '../../history/inspect/timeline-of.ts'
import { withLog } from '../../history/open-log.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { withIntake } from './with-intake.ts'

export type ForkFlags = { turn?: string; json?: boolean }

/** Throws the errors of forkConversation, and `usage` for a bad number. */
export async function fork(
  given: string,
  { turn: flag, json = false }: ForkFlags,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const conversation = parseConversationId(given)
  const options = flag === undefined ? {} : { turn: await turnOf(conversation, flag, settings) }
  const id = await withIntake(settings, async ({ bus, topicPrefix }) => {
    const partitions = await partitionCount(bus, topicPrefix)
    const partition = partitionOf(conversation, partitions)
    const place = { bus, topicPrefix, partition }
    const topic = `${topicPrefix}client-messages`
    const write = async (message: Parameters<typeof toRecord>[0]['message']) => {
      await bus.append([toRecord({ topic, partition, message })])
    }
    return forkConversation({ place, partitions, write }, conversation, options)
  })
  const place = flag === undefined ? 'its newest turn' : `turn ${flag}`
  const text = `It continues ${conversation} from ${place}, which stays as it is. Send the next message in your program, over HTTP, or with: weir chat --agent FILE --conversation '${id}'`
  if (json) out.write(`${printableJson({ conversation: id })}\n`)
  else for (const line of [id, text]) out.write(`${printable(line)}\n`)
}

/** The id of the turn that `weir inspect` shows with this number. */
async function turnOf(
  conversation: ConversationId,
  flag: string,
  settings: Settings,
): Promise<number> {
  if (!/^[1-9]\d{0,14}$/.test(flag))
    throw usageError(
      `--turn is '${printable(flag)}': give the number of a turn from weir inspect, such as 1`,
    )
  const records = await withLog(settings, (log) => existingRecords(conversation, log), {
    conversation,
  })
  return turnNumbered(timelineOf(conversation, records, { reasoning: false }), Number(flag)).turn
}
