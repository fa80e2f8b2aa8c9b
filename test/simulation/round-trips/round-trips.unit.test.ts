// The round trips of a conversation of five rounds, as bounds: each one costs the time of a request to
// the broker, which no faster machine saves.

import { describe, expect, it } from '@jest/globals'
import { stageNames } from '../../../shared/contract/topology.ts'
import { type CountOptions, countConversation } from './counted-world.ts'

const layouts = {
  'one process': [stageNames],
  'a process for each stage': stageNames.map((name) => [name]),
}
const unitMs = 1_000

async function writesInARow(layout: CountOptions['layout']): Promise<number> {
  const { durationMs } = await countConversation({ layout, writeMs: unitMs, lookUpMs: 0 })
  return Math.floor(durationMs / unitMs)
}

async function lookUpsInARow(layout: CountOptions['layout']): Promise<number> {
  const { durationMs } = await countConversation({ layout, writeMs: 0, lookUpMs: unitMs })
  return Math.floor(durationMs / unitMs)
}

describe('a conversation of five rounds', () => {
  it.each(Object.entries(layouts))('makes 49 writes in a row in %s', async (_, layout) => {
    expect(await writesInARow(layout)).toBe(49)
  })

  it.each(Object.entries(layouts))('waits for no look-up of offsets in %s', async (_, layout) => {
    expect(await lookUpsInARow(layout)).toBe(0)
  })
})
