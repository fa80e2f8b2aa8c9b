// R3: a derived id has one content, at one place. In each partition, dropping records that are not
// above the writer's mark loses nothing. Such a record is a repeat, so a writer goes back only to
// repeat itself. The numbers n of one input have no gap over all topics: no output of an input is
// missing in the middle. The input exists and is older than its outputs. The records of a guard
// outside of Weir belong to no stage and have only observed readers. guard-answers.ts checks them.

import {
  addressOf,
  type Checker,
  type Evidence,
  type Finding,
  type Logged,
} from '../../evidence.ts'
import { inboxes } from '../../inboxes.ts'

type Id = { stage: string; partition: number; offset: number; n: number }

export const oneContentPerId: Checker = {
  name: 'one-content-per-id',
  rule: 'A derived id has one content at one place, and no output is missing.',
  needs: [],
  check(evidence) {
    const findings: Finding[] = []
    const report = (problem: string, at?: string) => findings.push({ problem, at })
    const first = new Map<string, Logged>()
    const marks = new Map<string, Id>()
    const numbers = new Map<string, Set<number>>()
    for (const record of evidence.records) {
      if (record.id === undefined || record.isForeign === true || isOfGuard(record)) continue
      const id = parse(record.id)
      if (id === undefined) {
        report(`its id ${record.id} is invalid`, addressOf(record))
        continue
      }
      const known = first.get(record.id)
      if (known === undefined) first.set(record.id, record)
      else if (!isSame(known, record))
        report(`${record.id} has another content than at ${addressOf(known)}`, addressOf(record))
      if (id.partition !== record.partition)
        report(`${record.id} is in partition ${record.partition}`, addressOf(record))

      const reader = `${record.topic}/${record.partition} ${id.stage}/${id.partition}`
      const mark = marks.get(reader)
      if (mark === undefined || isAbove(id, mark)) marks.set(reader, id)
      else if (known === undefined)
        report(
          `${record.id} comes first after ${mark.offset}/${mark.n} of its writer, and would be dropped unread`,
          addressOf(record),
        )

      const input = `${id.stage}/${id.partition}/${id.offset}`
      numbers.set(input, (numbers.get(input) ?? new Set()).add(id.n))
    }
    for (const [input, seen] of numbers) {
      const missing = [...new Array(Math.max(...seen)).keys()].filter((n) => !seen.has(n))
      if (missing.length > 0)
        report(
          `of ${input} the records ${missing} were never written, and ${Math.max(...seen)} was`,
        )
    }
    return [...findings, ...orphans(evidence, first)]
  },
}

function isOfGuard({ topic }: Logged): boolean {
  return topic.startsWith('guard-verdicts.') && topic !== 'guard-verdicts.approval'
}

function orphans({ records }: Evidence, first: Map<string, Logged>): Finding[] {
  const times = new Map(records.map((record) => [addressOf(record), record.time]))
  return [...first].flatMap(([name, record]): Finding[] => {
    const id = parse(name) as Id
    const input = `${inboxes[id.stage]}/${id.partition}/${id.offset}`
    const time = times.get(input)
    if (time !== undefined && time <= record.time) return []
    const problem =
      time === undefined
        ? `the record ${input} that ${name} was made of is missing`
        : `${name} is older than its input ${input}`
    return [{ problem, at: addressOf(record) }]
  })
}

function parse(text: string): Id | undefined {
  const [, stage, partition, offset, n] = /^([a-z-]+)\/(\d+)\/(\d+)\/(\d+)$/.exec(text) ?? []
  return stage === undefined
    ? undefined
    : { stage, partition: Number(partition), offset: Number(offset), n: Number(n) }
}

function isAbove(id: Id, mark: Id): boolean {
  return id.offset > mark.offset || (id.offset === mark.offset && id.n > mark.n)
}

function isSame(one: Logged, other: Logged): boolean {
  return (
    one.topic === other.topic &&
    one.partition === other.partition &&
    one.key === other.key &&
    contentOf(one) === contentOf(other)
  )
}

/** Each copy of a piece of evidence has the link of its own writer around the same content. */
function contentOf({ message, digest }: Logged): string {
  return (message !== undefined && 'link' in message && message.link?.content) || digest
}
