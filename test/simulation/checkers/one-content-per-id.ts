// R3: a derived id has one content, everywhere. Dropping a record that is not above the writer's
// mark loses nothing: the reader applied it before. The numbers n of one input have no gap over all
// topics, so none of its outputs is missing in the middle.

import { type TopicName, topics } from '../../../shared/contract/topology.ts'
import type { Checker, Evidence, Finding } from '../evidence.ts'

export const oneContentPerId: Checker = {
  name: 'one-content-per-id',
  check(evidence) {
    const findings: Finding[] = []
    const contents = new Map<string, string>()
    const numbers = new Map<string, Set<number>>()
    for (const topic of Object.keys(topics) as TopicName[])
      for (let partition = 0; partition < evidence.partitions; partition++)
        findings.push(...inOrder(evidence, topic, partition, contents, numbers))
    for (const [input, seen] of numbers)
      for (let n = 0; n < seen.size; n++)
        if (!seen.has(n))
          findings.push({
            problem: `of the outputs of ${input} number ${n} is missing: ${[...seen]}`,
          })
    return findings
  },
}

function inOrder(
  evidence: Evidence,
  topic: TopicName,
  partition: number,
  contents: Map<string, string>,
  numbers: Map<string, Set<number>>,
): Finding[] {
  const findings: Finding[] = []
  const marks = new Map<string, [offset: number, n: number]>()
  const taken = new Set<string>()
  for (const { record, message } of evidence.of(topic, partition)) {
    const [stage, from, offset, n] = (record.id ?? '').split('/')
    if (record.id === undefined || n === undefined || evidence.isGarbage(record)) continue
    const conversation = message && 'conversation' in message ? message.conversation : undefined
    const content = `${topic}/${partition} ${record.key} ${Buffer.from(record.value ?? []).toString('base64')}`
    const known = contents.get(record.id)
    if (known !== undefined && known !== content)
      findings.push({
        problem: `two contents under ${record.id}: in ${topic}/${partition} at ${record.offset}`,
        conversation,
      })
    contents.set(record.id, content)
    const input = `${stage}/${from}/${offset}`
    const seen = numbers.get(input) ?? new Set()
    numbers.set(input, seen)
    seen.add(Number(n))
    const mark = marks.get(`${stage}/${from}`)
    const isAbove =
      mark === undefined ||
      Number(offset) > mark[0] ||
      (Number(offset) === mark[0] && Number(n) > mark[1])
    if (!isAbove && !taken.has(record.id))
      findings.push({
        problem: `${record.id} in ${topic}/${partition} at ${record.offset} comes after ${mark} and would be lost`,
        conversation,
      })
    if (isAbove) marks.set(`${stage}/${from}`, [Number(offset), Number(n)])
    taken.add(record.id)
  }
  return findings
}
