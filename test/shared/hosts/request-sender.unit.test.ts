// The senders of requests by the profiles of hosts. The headers are those that the hosts were seen to
// send (test/hosts/RESULTS.md).

import { describe, expect, it } from '@jest/globals'
import { hostOfRequest } from '../../../shared/hosts/hosts.ts'
import { senderOf } from '../../../shared/hosts/request-sender.ts'
import { recordedHost } from '../../hosts/recorded-host.ts'

const claude = { 'x-claude-code-session-id': 's1' }
const codex = (metadata: object) => ({ 'x-codex-turn-metadata': JSON.stringify(metadata) })
const openCode = { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23' }
const copilot = { 'x-initiator': 'agent', 'x-interaction-type': 'conversation-subagent' }

describe('the sender of a request', () => {
  it('is the session of Claude Code, or one of its sub-agents', () => {
    expect(senderOf(claude)).toMatchObject({ session: 's1', agent: undefined })
    const headers = { ...claude, 'x-claude-code-agent-id': 'a1' }
    expect(senderOf(headers)).toMatchObject({ session: 's1', agent: 'a1' })
  })

  it("is a sub-agent of Codex if the thread is not the session's", () => {
    const main = { session_id: 's1', thread_id: 's1', agent_name: '/root', turn_id: 'u1' }
    expect(senderOf(codex(main))).toMatchObject({ session: 's1', agent: undefined, turn: 'u1' })
    const headers = codex({ ...main, thread_id: 't1' })
    expect(senderOf(headers)).toMatchObject({ session: 's1', agent: 't1', turn: 'u1' })
  })

  it('is the thread of Codex if its metadata has no session or cannot be read', () => {
    expect(senderOf(codex({ thread_id: 't1' }))).toMatchObject({ session: 't1', agent: undefined })
    const headers = { 'x-codex-turn-metadata': '{"thread_id":', 'thread-id': 't1' }
    expect(senderOf(headers)).toMatchObject({ session: 't1', turn: undefined })
  })

  it('is the session of OpenCode, which each of its sub-agents has', () => {
    const headers = { ...openCode, 'x-parent-session-id': 's1', 'x-session-id': 'c1' }
    expect(senderOf(headers)).toMatchObject({ session: 'c1', agent: undefined })
  })

  it('is unknown for Copilot CLI, for an unknown program, and without an id', () => {
    const unknown = [copilot, { 'x-session-id': 's1' }, openCode, codex({}), {}]
    for (const headers of unknown) expect(senderOf(headers)).toBeUndefined()
  })

  it.each(['claude-code', 'codex'] as const)(
    'is the session of each recorded request (%s)',
    (name) => {
      const { requests, hooks } = recordedHost(name)
      const senders = requests.map(({ headers }) => senderOf(headers))
      expect(new Set(senders.map((sender) => sender?.session))).toEqual(
        new Set([hooks[0]?.body.session_id]),
      )
      for (const sender of senders) expect(sender?.agent).toBeUndefined()
    },
  )
})

describe('the host of a request', () => {
  it('is OpenCode also if the request has the headers of Copilot', () => {
    expect(hostOfRequest({ ...copilot, ...openCode })?.name).toBe('opencode')
    expect(hostOfRequest(copilot)?.name).toBe('copilot')
  })
})
