// The list of stages against the topology: one entry for each row, and a performer for each stage
// whose performer writes records.

import { describe, expect, it } from '@jest/globals'
import { performs, reducers } from '../../services/reducers.ts'
import { stageEntries } from '../../services/stages.ts'
import { stageNames, topics } from '../../shared/contract/topology.ts'

describe('the list of stages', () => {
  it('has each stage of the topology in the same order, under the name of its reducer', () => {
    expect(Object.entries(reducers).map(([name, stage]) => [name, stage.name])).toEqual(
      stageNames.map((name) => [name, name]),
    )
  })

  it('gives a performer only to the stages whose performer may write', () => {
    const writers = Object.values(topics).flatMap(({ records }) => Object.values(records).flat())
    const performing = stageNames.filter((name) => writers.includes(`${name} performer`))
    expect(stageNames.filter(performs)).toEqual(performing)
    const entries = stageEntries({ agents: new Map(), connect: unused, run: unused })
    const started = stageNames.filter((name) => 'startPerformer' in entries[name])
    expect(started).toEqual(performing)
  })
})

function unused(): never {
  throw new Error('no performer starts in this test')
}
