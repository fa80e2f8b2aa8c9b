// `weir topics grow`: refuses to add partitions to a log, and prints the way to more partitions.
// A conversation's partition is a function of the number of partitions. The history, open turns,
// writers' marks and readers' commits are all kept by partition. No copy
// to another partition keeps them: offsets are part of the ids that readers drop repeats by (R3).

import { partitionCount } from '../../../client/place/open-bus.ts'
import { shellWord } from '../../../shared/bus/kafka/cluster/topic-plan.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { commandSettings, type SettingFlags } from '../../terminal/command-settings.ts'
import { printable } from '../../terminal/text/printable.ts'
import { partitionsSetBy } from '../service-settings.ts'
import { withTopicsBus } from './planned-partitions.ts'
import { busOfTopics } from './topics.ts'

/**
 * Prints the steps, and resolves to 1, because nothing was changed. Throws `usage` if no number is
 * set or it is not larger than the log's, and the errors of partitionCount.
 */
export async function refuseToGrow(given: SettingFlags, out: NodeJS.WriteStream): Promise<1> {
  const flags = { ...given, bus: busOfTopics }
  const settings = commandSettings(flags)
  const { topicPrefix } = settings
  const to = partitionsSetBy(flags)
  if (to === undefined)
    throw usageError('give the number of partitions that you need: --partitions N')
  const from = await withTopicsBus(settings, (bus) => partitionCount(bus, topicPrefix))
  if (to <= from)
    throw usageError(
      `--partitions is ${to}, and the topics that begin with ${topicPrefix} have ${from} already: give a larger number`,
    )
  for (const line of growthSteps(topicPrefix, from, to)) out.write(`${printable(line)}\n`)
  return 1
}

/** The refusal and the steps, as lines. */
export function growthSteps(topicPrefix: string, from: number, to: number): string[] {
  const prefix = nextPrefix(topicPrefix)
  const flag = `--topic-prefix ${shellWord(prefix)}`
  return [
    `Nothing was changed: a log of ${from} partitions cannot grow to ${to}.`,
    "A conversation's partition follows from the number of partitions. With another number, its history, its open turn and the ids of its messages are in a partition that is not read for it.",
    'Begin a second log with more partitions, and let the first one end:',
    `  1. weir topics create ${flag} --partitions ${to}`,
    '  2. Register the guards, policies and approval rules of the first log there: weir guard register, weir policy set, weir approvals rules.',
    `  3. Start its stages next to the first ones: weir up ${flag}`,
    `  4. Start new conversations there (WEIR_TOPIC_PREFIX=${prefix}). Continue existing ones in the first log: it alone has their history.`,
    `  5. When the last conversation of the first log is over, stop its stages. Then delete it: weir reset --all --topic-prefix ${shellWord(topicPrefix)}`,
    'Never add partitions with a Kafka tool: running stages stop, and no stage starts on such topics.',
  ]
}

/** `weir.` gives `weir-2.`, and `weir-2.` gives `weir-3.`. */
function nextPrefix(prefix: string): string {
  const [, start = '', number, end = ''] = /^(.*?)(?:-(\d{1,6}))?([._]?)$/.exec(prefix) ?? []
  return `${start}-${Number(number ?? 1) + 1}${end}`
}
