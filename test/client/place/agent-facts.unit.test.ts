// The comparison of an agent here with the agent of that name in the owner of a data folder.

import { describe, expect, it } from '@jest/globals'
import { assertOwnerHas, factsOf, includesAll } from '../../../client/place/agent-facts.ts'
import type { Agent } from '../../../shared/agents/agents.ts'
import { recordedTool, testAgent } from '../../support/pipeline.ts'

const tools = (file: string) => [recordedTool({ name: 'act', schema: { type: 'object' } }, file)]
const agent = testAgent('http://127.0.0.1:1', { tools }, '/starts')
const mapOf = (...agents: Agent[]) => new Map(agents.map((one) => [one.name, one]))
const place = { dataFolder: '.weir', declarationsOnly: false }
const ownerOf = (...agents: Agent[]) => ({ pid: 7, agents: factsOf(mapOf(...agents)) })

const [act] = agent.tools
if (act === undefined) throw new Error('there is no tool')
const declaredAnew = { ...act, declaration: { ...act.declaration, description: 'new' } }
const runAnew = { ...act, run: { kind: 'http', url: 'http://127.0.0.1:2', headers: {} } as const }

describe('the agents of the owner', () => {
  it('fit an agent with the same definition, also with another key', () => {
    const { model } = agent
    const same = { ...agent, model: { ...model, apiKey: 'another' } }
    expect(() => assertOwnerHas(same, ownerOf(agent), place)).not.toThrow()
  })

  it.each<[string, Agent, string]>([
    ['the declaration of a tool', { ...agent, tools: [declaredAnew] }, "another tool 'act'"],
    ['the start of a tool', { ...agent, tools: [runAnew] }, "another tool 'act'"],
    ['no tool', { ...agent, tools: [] }, "no tool 'act'"],
    ['the instructions', { ...agent, system: 'Do more.' }, 'other instructions'],
    ['the model', { ...agent, model: { ...agent.model, name: 'other' } }, 'another model'],
  ])('do not fit if they differ in %s', (_, other, words) => {
    expect(() => assertOwnerHas(agent, ownerOf(other), place)).toThrow(
      expect.objectContaining({
        code: 'agent.differs',
        message: `process 7, which runs the agents of .weir, has ${words} in its agent '${agent.name}'. Run the same definition in both processes, or use another data folder`,
      }),
    )
  })

  it('do not fit an agent that is missing, and the error names those that are there', () => {
    const other = { ...agent, name: 'other' }
    expect(() => assertOwnerHas(agent, ownerOf(other), place)).toThrow(
      expect.objectContaining({
        code: 'agent.unknown',
        message: expect.stringContaining(`has no agent '${agent.name}'. Its agents: other.`),
      }),
    )
  })

  it('are compared by declarations alone if this process has read no more', () => {
    const elsewhere = { ...place, declarationsOnly: true }
    const other = { ...agent, system: 'Do more.', tools: [runAnew] }
    expect(() => assertOwnerHas(agent, ownerOf(other), elsewhere)).not.toThrow()
    const declared = { ...agent, tools: [declaredAnew] }
    expect(() => assertOwnerHas(agent, ownerOf(declared), elsewhere)).toThrow("another tool 'act'")
  })

  it('are included by a process with all of them, also if it has more', () => {
    const other = { ...agent, name: 'other' }
    const { agents } = ownerOf(agent)
    expect(includesAll(mapOf(agent, other), agents)).toBe(true)
    expect(includesAll(mapOf(other), agents)).toBe(false)
    expect(includesAll(mapOf({ ...agent, system: 'Do more.' }), agents)).toBe(false)
  })
})
