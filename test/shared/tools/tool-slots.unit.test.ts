// One turn with many slow calls must not keep the calls of other turns waiting.

import { describe, expect, it } from '@jest/globals'
import type { Agents } from '../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { createToolSlots, toolPlaces } from '../../../shared/tools/tool-slots.ts'
import { execTool } from '../../support/pipeline.ts'

function agentsWith(concurrency?: number): Agents {
  const tools = execTool('').map((tool) => ({ ...tool, ...(concurrency && { concurrency }) }))
  const model = { provider: 'anthropic', name: 'm', apiKey: 'k', maxOutputTokens: 1 } as const
  return new Map([['a', { name: 'a', system: '', model, tools, settings: defaultSettings }]])
}

/** The number of calls that start if `turns` request so many each, one turn after the other. */
function started(concurrency: number | undefined, turns: Record<string, number>) {
  const slotsOf = createToolSlots(agentsWith(concurrency), toolPlaces(limits.runningToolsMax))
  const running: Record<string, number> = {}
  for (const [turn, calls] of Object.entries(turns))
    for (let n = 0; n < calls; n += 1)
      slotsOf('a', 'exec').wait(turn, () => {
        running[turn] = (running[turn] ?? 0) + 1
      })
  return running
}

describe('the places for tools', () => {
  it.each<[concurrency: number | undefined, most: number]>([
    [undefined, limits.runningToolsMax / 2],
    [16, 8],
    [5, 2],
    [4, 2],
    [3, 1],
    [2, 1],
    [1, 1],
  ])(
    'with a concurrency of %s give one turn %d at most, also while others are free',
    (own, most) => {
      expect(started(own, { busy: 96 })).toEqual({ busy: most })
    },
  )

  it('let an agent work for a call even if all places are taken', () => {
    const agents = agentsWith()
    const tool = { ...execTool('')[0], run: { kind: 'function', run: () => '', runsAgent: 'b' } }
    const boss = { ...agents.get('a'), tools: [tool] } as never
    const slots = toolPlaces(1)
    slots.wait('busy', () => {})
    let isStarted = false
    createToolSlots(new Map([['a', boss]]), slots)('a', 'exec').wait('turn', () => {
      isStarted = true
    })
    expect(isStarted).toBe(true)
  })

  it('start the call of another turn at once while one turn waits with a hundred', () => {
    expect(started(undefined, { busy: 96, other: 1, third: 2 })).toEqual({
      busy: 8,
      other: 1,
      third: 2,
    })
    expect(started(4, { busy: 96, other: 1 })).toEqual({ busy: 2, other: 1 })
  })
})
