// The contents of a run of seeds: they show how much the run has tested.

import { recordsOf } from '../evidence/evidence.ts'
import type { Simulated } from './simulation.ts'

export type Tally = {
  seeds: number
  events: number
  virtualHours: number
  counts: Map<string, number>
}

export function emptyTally(): Tally {
  return { seeds: 0, events: 0, virtualHours: 0, counts: new Map() }
}

export function tallyOf({ evidence, faults, events, passedMs }: Simulated): Tally {
  const counts = new Map<string, number>(
    [...faults].map(([kind, count]) => [`fault ${kind}`, count]),
  )
  const add = (name: string, count = 1) => counts.set(name, (counts.get(name) ?? 0) + count)
  for (const { message } of recordsOf(evidence, 'turn-finished')) {
    add('turns')
    add(`turn ${message.outcome}`)
    if (message.class === 'stopped') add('turn stopped')
  }
  for (const { message, topic } of recordsOf(evidence, 'round-outcome')) {
    if (topic !== 'conversation-events') continue
    add(message.failure === null ? 'round answered' : 'round failed')
    if (message.intervention !== null) add(`intervention ${message.intervention.action}`)
    for (const { status } of message.results) add(`result ${status}`)
  }
  for (const { message } of recordsOf(evidence, 'intervention-raised'))
    if (message.shadow) add(`in shadow ${message.intervention.action}`)
  add('budget reserved', recordsOf(evidence, 'budget-reserved').length)
  add('budget settled', recordsOf(evidence, 'budget-settled').length)
  add('slot reserved', recordsOf(evidence, 'slot-reserved').length)
  add('slot renewed', recordsOf(evidence, 'slot-renewed').length)
  add('slot settled', recordsOf(evidence, 'slot-settled').length)
  add('request waited', recordsOf(evidence, 'model-waiting').length)
  for (const { message } of recordsOf(evidence, 'approval-decided'))
    add(`approval ${message.outcome}`)
  add('model streams', evidence.modelRequests?.length)
  add('tool starts', evidence.starts.length)
  const children = evidence.starts.filter(({ tool }) => evidence.childTools?.includes(tool))
  add('child started', new Set(children.map(({ call }) => call)).size)
  for (const { message } of recordsOf(evidence, 'call-finished'))
    if (message.status === 'denied' && message.reason.startsWith('the cap tree.'))
      add('child refused')
  add('sub-agent started', evidence.guestTrees?.children.length)
  const places = recordsOf(evidence, 'budget-reserved').filter(
    ({ message }) => message.children > 0 && message.conversation.startsWith('guest:'),
  )
  add('sub-agent place wanted', places.length)
  for (const { message } of recordsOf(evidence, 'call-finished'))
    if (message.guard === 'once' && message.status === 'denied') add('once denied')
  return { seeds: 1, events, virtualHours: passedMs / 3_600_000, counts }
}

export function addTally(sum: Tally, one: Tally): void {
  sum.seeds += one.seeds
  sum.events += one.events
  sum.virtualHours += one.virtualHours
  for (const [name, count] of one.counts) sum.counts.set(name, (sum.counts.get(name) ?? 0) + count)
}

export function printTally({ seeds, events, virtualHours, counts }: Tally): string {
  const lines = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `  ${name.padEnd(32)}${count}`)
  return [
    `${seeds} seeds, ${events} events, ${virtualHours.toFixed(1)} virtual hours`,
    ...lines,
  ].join('\n')
}
