// A conversation's records as text, with all topics merged by time. Read it to understand a
// violation.

import type { Message } from '../../shared/contract/messages.ts'
import { type TopicName, topics } from '../../shared/contract/topology.ts'
import type { Evidence } from './evidence.ts'

/** `conversation` undefined: all of them. */
export function describeRecords(evidence: Evidence, conversation: string | undefined): string {
  const lines: { time: number; text: string }[] = []
  for (const topic of Object.keys(topics) as TopicName[])
    for (let partition = 0; partition < evidence.partitions; partition++)
      for (const { record, message } of evidence.of(topic, partition)) {
        const isOf =
          conversation === undefined ||
          record.key === conversation ||
          record.key.startsWith(`["${conversation}"`)
        if (isOf)
          lines.push({
            time: record.time,
            text: `${topic}/${partition}/${record.offset} ${record.id ?? '-'} ${brief(message)}`,
          })
      }
  for (const { call, tool, time, machine } of evidence.ledger.starts)
    if (conversation === undefined || call.startsWith(`["${conversation}"`))
      lines.push({ time, text: `*** ${machine} starts ${tool} for ${call}` })
  const start = Math.min(...lines.map(({ time }) => time))
  return lines
    .sort((a, b) => a.time - b.time)
    .map(({ time, text }) => `${String(time - start).padStart(9)} ${text}`)
    .join('\n')
}

function brief(message: Message | undefined): string {
  if (message === undefined) return 'no message'
  const { type, ...rest } = message
  return `${type} ${JSON.stringify(rest, (key, value) => (['settings', 'declarations', 'policy', 'tools', 'value'].includes(key) ? '…' : value)).slice(0, 400)}`
}
