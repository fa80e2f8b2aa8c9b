// Results as the hosts were seen to send them (test/hosts/recorded).

import { describe, expect, it } from '@jest/globals'
import { hostNamed } from '../../../shared/hosts/hosts.ts'
import { agentsThatEnded, agentThatGoesOn } from '../../../shared/hosts/started-agents.ts'

const [claude, codex] = [hostNamed('claude-code'), hostNamed('codex')]

describe('the result of a call that started an agent', () => {
  it('names the agent that goes on in the background, and none that has ended', () => {
    const launched = JSON.stringify({ status: 'async_launched', agentId: 'a1' })
    const completed = JSON.stringify({ status: 'completed', agentId: 'a1', content: [] })
    expect(agentThatGoesOn(claude, 'Agent', launched)).toBe('a1')
    expect(agentThatGoesOn(claude, 'Agent', completed)).toBeUndefined()
    expect(agentThatGoesOn(claude, 'Bash', launched)).toBeUndefined()
    expect(agentThatGoesOn(codex, 'spawn_agent', '{"agent_id":"t1","nickname":"Raman"}')).toBe('t1')
    for (const text of ['', 'null', '[]', '{"agent_id":7}', '{"agent_id":""}', '{'.repeat(9_000)])
      expect(agentThatGoesOn(codex, 'spawn_agent', text)).toBeUndefined()
    expect(agentThatGoesOn(undefined, 'spawn_agent', '{"agent_id":"t1"}')).toBeUndefined()
  })

  it('names the agents that ended, and none that still runs', () => {
    const text = JSON.stringify({ status: { t1: { completed: 'All is done.' }, t2: 'running' } })
    expect(agentsThatEnded(codex, 'multi_agent_v1wait_agent', text)).toEqual(['t1'])
    expect(agentsThatEnded(codex, 'Bash', text)).toEqual([])
    expect(agentsThatEnded(claude, 'multi_agent_v1wait_agent', text)).toEqual([])
    expect(agentsThatEnded(codex, 'wait_agent', '{"status":7}')).toEqual([])
  })
})
