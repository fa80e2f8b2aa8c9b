// The header of each reducer against the topology: the topic that the stage reads and the records
// that it writes. Readers start there, so a stale line does more harm than a missing one.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { type StageName, stageNames, stages, topics } from '../../../shared/contract/topology.ts'

/** The comment at the top of a reducer, as one line. */
function headerOf(stage: StageName): string {
  const file = new URL(`../../../services/${stage}/reducer.ts`, import.meta.url)
  const [header = ''] = readFileSync(file, 'utf8').split('\n\n')
  return header.replaceAll(/\n?\/\/ */g, ' ').trim()
}

/**
 * `type to topic` for each record of a `Writes:` sentence. In it, lists of types precede their
 * topics: "Writes: a and b to x and y, c to z."
 */
function writesIn(header: string): string[] {
  const [, sentence = ''] = /Writes: (.*?)\.(?: |$)/.exec(header) ?? []
  const writes: string[] = []
  let types: string[] = []
  let isAfterTopic = false
  for (const [word] of sentence.matchAll(/[a-z]+(?:[-.][a-z]+)*/g)) {
    if (word === 'to' || word === 'and') continue
    if (word in topics) writes.push(...types.map((type) => `${type} to ${word}`))
    else types = isAfterTopic ? [word] : [...types, word]
    isAfterTopic = word in topics
  }
  return writes.sort()
}

function writesOf(stage: StageName): string[] {
  return Object.entries(topics)
    .flatMap(([topic, { records }]) =>
      Object.entries(records)
        .filter(([, writers]) => writers.includes(stage))
        .map(([type]) => `${type} to ${topic}`),
    )
    .sort()
}

describe('the header of a reducer', () => {
  it.each(stageNames)('of %s names the inbox and every record that the reducer writes', (stage) => {
    const header = headerOf(stage)
    expect(/Reads: ([^ ]+)\. Writes: /.exec(header)?.[1]).toBe(stages[stage].inbox)
    expect(writesIn(header)).toEqual(writesOf(stage))
  })

  it.each(stageNames)('of %s has the parts that a reader expects', (stage) =>
    expect(headerOf(stage)).toMatch(/ Owns: .* Does not own: /),
  )

  it('is read word by word: a record without its topic, or with another, is a difference', () => {
    const header = 'Reads: x. Writes: tick and cancel to approvals and history, part to activity.'
    const writes = ['cancel to approvals', 'cancel to history', 'part to activity']
    expect(writesIn(header)).toEqual([...writes, 'tick to approvals', 'tick to history'])
    expect(writesIn('Writes: part.')).toEqual([])
  })
})
