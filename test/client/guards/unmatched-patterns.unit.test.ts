// Warnings for the patterns of guards and rules that match no tool.

import { expect, it } from '@jest/globals'
import { createAgentCalls } from '../../../client/agents/agent-calls.ts'
import { agentsOf } from '../../../client/agents/agents-in-files.ts'
import { unmatchedPatterns } from '../../../client/guards/unmatched-patterns.ts'
import { anthropic, defineAgent, defineTool, type Guard } from '../../../client/weir.ts'

const parameters = { type: 'object' } as const
const refund = defineTool({ name: 'refund', description: 'd', parameters, run: () => 'paid' })
const model = anthropic('m', { baseUrl: 'http://127.0.0.1:1' })
const agent = defineAgent({ name: 'a', system: 's', model, tools: [refund] })
const agents = agentsOf([agent], 'auto', createAgentCalls())

const guardOf = (...tools: string[]): Guard => ({
  name: 'spend',
  version: '1',
  tools,
  deadlineMs: 5,
  onTimeout: 'deny',
  judge: () => ({ state: undefined, verdicts: [] }),
})

it('names a guard and a rule whose patterns match no tool, with the nearest tool', () => {
  const approvals = { rules: [{ name: 'money', tools: ['refnud'] }] }
  expect(unmatchedPatterns({ guards: { guards: [guardOf('pay*')] }, approvals }, agents)).toEqual([
    'the guard spend matches no tool of these agents: pay*',
    'the approval rule money matches no tool of these agents: refnud; did you mean refund?',
  ])
})

it('names none if one of the patterns matches', () => {
  const approvals = { rules: [{ name: 'money', tools: ['pay', 'ref*'] }] }
  expect(unmatchedPatterns({ guards: { guards: [guardOf('*')] }, approvals }, agents)).toEqual([])
})

it('leaves rules that are none to their own check', () => {
  const approvals = { rules: [null, 5, {}] } as never
  expect(unmatchedPatterns({ approvals }, agents)).toEqual([])
})
