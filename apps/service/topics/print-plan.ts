// Prints the plan of the topics: the topics, each entry of their configuration with its reason, and
// the lines that create them.

import type { PlannedTopic } from '../../../shared/bus/kafka/cluster/topic-plan.ts'
import { columnsOfOutput, painted } from '../../terminal/paint.ts'
import { inColumns } from '../../terminal/text/in-columns.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { wrapped } from '../../terminal/text/word-wrap.ts'

const dayMs = 86_400_000

export function printPlan(topics: PlannedTopic[], lines: string[], out: NodeJS.WriteStream): void {
  const rows = topics.map(rowOf)
  const header = ['TOPIC', 'KIND', 'PARTITIONS', 'COPIES', 'KEPT']
  const [titles = '', ...rowLines] = inColumns([header, ...rows])
  out.write(`${painted(out, 'title', titles)}\n`)
  for (const row of rowLines) out.write(`${row}\n`)
  for (const entry of entriesOf(topics)) {
    out.write(`\n${painted(out, 'title', `${entry.name}=${entry.value}`)}  (${entry.of})\n`)
    for (const line of wrapped(entry.reason, columnsOfOutput(out) - 4))
      out.write(`    ${painted(out, 'faint', line)}\n`)
  }
  out.write(
    `\n${painted(out, 'title', "weir topics create creates missing topics; so do these lines, with Kafka's own tool:")}\n`,
  )
  for (const line of lines) out.write(`${printable(line)}\n`)
}

function rowOf({
  topic,
  kind,
  numPartitions,
  replicationFactor,
  configEntries,
}: PlannedTopic): string[] {
  const retention = configEntries.find(({ name }) => name === 'retention.ms')?.value
  const keptFor = retention === '-1' ? 'for ever' : count(Number(retention) / dayMs, 'day')
  const kept = kind === 'table' ? 'newest of each key' : keptFor
  const copies = replicationFactor === -1 ? "brokers' default" : String(replicationFactor)
  return [printable(topic), kind, String(numPartitions), copies, kept]
}

/** Each value once, with the topics that have it: all, those of a kind, or their names. */
function entriesOf(
  topics: PlannedTopic[],
): { name: string; value: string; reason: string; of: string }[] {
  const found = new Map<
    string,
    { name: string; value: string; reason: string; topics: PlannedTopic[] }
  >()
  for (const planned of topics)
    for (const { name, value, reason } of planned.configEntries) {
      const known = found.get(`${name}=${value}`)
      if (known === undefined)
        found.set(`${name}=${value}`, { name, value, reason, topics: [planned] })
      else known.topics.push(planned)
    }
  const names = [...new Set([...found.values()].map(({ name }) => name))]
  const ordered = names.flatMap((name) =>
    [...found.values()].filter((entry) => entry.name === name),
  )
  return ordered.map(({ topics: having, ...entry }) => ({ ...entry, of: labelOf(having, topics) }))
}

function labelOf(having: PlannedTopic[], all: PlannedTopic[]): string {
  if (having.length === all.length) return 'all'
  for (const kind of ['log', 'table'] as const)
    if (
      having.every((planned) => planned.kind === kind) &&
      having.length === all.filter((planned) => planned.kind === kind).length
    )
      return `each ${kind}`
  const names = having.map(({ topic }) => printable(topic))
  return names.length <= 2 ? names.join(', ') : `${names.length} topics`
}
