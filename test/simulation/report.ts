// A conversation's records as text, with all topics merged by time. Read it to understand a
// violation.

import type { Message } from '../../shared/contract/messages.ts'
import { addressOf, type Evidence } from '../evidence/evidence.ts'

/** `conversation` undefined: all of them. */
export function describeRecords(evidence: Evidence, conversation: string | undefined): string {
  const lines: { time: number; text: string }[] = []
  const isOf = (key: string) =>
    conversation === undefined || key === conversation || key.startsWith(`["${conversation}"`)
  for (const { key, time, id, message, ...place } of evidence.records)
    if (isOf(key)) lines.push({ time, text: `${addressOf(place)} ${id ?? '-'} ${brief(message)}` })
  for (const { call, tool, at, process } of evidence.starts)
    if (isOf(call)) lines.push({ time: at, text: `*** ${process} starts ${tool} for ${call}` })
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
