// `weir fork`: a new conversation that continues another one.

import { forkConversation } from '../../../client/conversation/fork.ts'
import { historyOf, turnsInHistory } from '../../../client/conversation/history.ts'
import { partitionCount } from '../../../client/place/open-bus.ts'
import { type ConversationId, parseConversationId } from '../../../shared/contract/ids.ts'
import { partitionOf } from '../../../shared/contract/partition.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
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
  if (flag !== undefined && !/^[1-9]\d{0,14}$/.test(flag))
    throw usageError(
      `--turn is '${printable(flag)}': give the number of a turn from weir inspect, such as 1`,
    )
  const made = await withIntake(settings, async ({ bus, topicPrefix }) => {
    const partitions = await partitionCount(bus, topicPrefix)
    const partition = partitionOf(conversation, partitions)
    const place = { bus, topicPrefix, partition }
    const turns = (await turnsInHistory(place, conversation)).reverse()
    const number = flag === undefined ? turns.length : Number(flag)
    const topic = `${topicPrefix}client-messages`
    const write = async (message: Parameters<typeof toRecord>[0]['message']) => {
      await bus.append([toRecord({ topic, partition, message })])
    }
    const isUnknown =
      turns.length === 0 && (await historyOf(place, conversation)).origins.length === 0
    const turn = turnOf(turns, flag === undefined || isUnknown ? undefined : number)
    const id = await forkConversation({ place, partitions, write }, conversation, turn)
    return { conversation: id, turn: number }
  })
  if (json) out.write(`${printableJson(made)}\n`)
  else for (const line of linesOf(conversation, made)) out.write(`${printable(line)}\n`)
}

/** `number`: as weir inspect has it. Undefined: the newest turn. */
function turnOf(turns: readonly number[], number: number | undefined): { turn?: number } {
  if (number === undefined) return {}
  const turn = turns[number - 1]
  if (turn !== undefined) return { turn }
  throw usageError(`there is no turn ${number}: the conversation has ${turns.length} of its own`)
}

function linesOf(
  origin: ConversationId,
  { conversation, turn }: { conversation: ConversationId; turn: number },
): string[] {
  const place = turn === 0 ? 'where it began' : `turn ${turn}`
  return [
    conversation,
    `It continues ${origin} from ${place}, which stays as it is. Go on: weir chat --agent FILE --conversation '${conversation}'`,
  ]
}
