// The proxy next to the hooks of the same session: one round, whose verdicts the hooks wait for.

import { afterEach, expect, it } from '@jest/globals'
import type { CallVerdict } from '../../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { scriptedGuard } from '../../scripted-guard.ts'
import { type Proxied, proxied } from './proxied.ts'
import { messagesCase, responsesCase } from './requests.ts'
import { sendJson } from './scripted-upstream.ts'

let proxy: Proxied | undefined

afterEach(() => proxy?.close())

const refused: CallVerdict = {
  callId: 'call_2',
  name: 'exec',
  verdict: 'deny',
  text: 'No.',
  code: 'guard.denied',
}
const hosts = [
  { ...messagesCase, headers: { 'x-claude-code-session-id': 's1' } },
  {
    ...responsesCase,
    headers: { 'x-codex-turn-metadata': '{"session_id":"s1","thread_id":"t1","turn_id":"u1"}' },
  },
  {
    ...messagesCase,
    name: 'a sub-agent of Claude Code',
    headers: { 'x-claude-code-session-id': 's1', 'x-claude-code-agent-id': 'a1' },
  },
]

it.each(hosts)('a hook gets the verdict on a call of $name', async (host) => {
  const guard = scriptedGuard({ after: () => [refused] })
  proxy = await proxied(guard, (_, response) => sendJson(response, host.answer))
  proxy.sessions.sawHook('s1')
  const { url, sessions } = proxy
  await fetch(url + host.path, { method: 'POST', body: host.request, headers: host.headers })
  expect(await sessions.verdictOn('s1', { id: 'call_2', name: 'exec', input: {} })).toEqual({
    verdict: refused,
    agent: 'main',
  })
  expect(guard.asked.map(({ kind }) => kind)).toEqual(['before', 'after'])
})

it.each(['nothing', 'a guard that needs longer'])(
  'a call that waits for %s does not wait for a person who decides its neighbour',
  async (waitsFor) => {
    const waits: (number | undefined)[] = []
    const isLate = waitsFor === 'a guard that needs longer'
    const decided = Promise.withResolvers<CallVerdict[]>()
    const answer = {
      ...(messagesCase.answer as object),
      content: ['c1', 'c2'].map((id) => ({ type: 'tool_use', id, name: 'exec', input: {} })),
    }
    const verdict = (callId: string, verdict: CallVerdict['verdict']): CallVerdict => ({
      ...refused,
      callId,
      verdict,
    })
    const scripted = scriptedGuard({
      after: (_, n) => {
        if (n >= (isLate ? 3 : 2)) return decided.promise
        return [verdict('c1', isLate && n === 1 ? 'pending' : 'allow'), verdict('c2', 'pending')]
      },
    })
    const guard: Pick<typeof scripted, 'conversation'> = {
      conversation(id, options) {
        const conversation = scripted.conversation(id, options)
        return {
          ...conversation,
          afterModel(answer, options) {
            waits.push(options?.waitMs)
            return conversation.afterModel(answer, options)
          },
        }
      },
    }
    proxy = await proxied(guard, (_, response) => sendJson(response, answer))
    proxy.sessions.sawHook('s1')
    const { url, sessions } = proxy
    const headers = { 'x-claude-code-session-id': 's1' }
    await fetch(`${url}/v1/messages`, { method: 'POST', body: messagesCase.request, headers })
    expect(await sessions.verdictOn('s1', { id: 'c1', name: 'exec', input: {} })).toMatchObject({
      verdict: { verdict: 'allow' },
    })
    decided.resolve([verdict('c1', 'allow'), verdict('c2', 'deny')])
    expect(await sessions.verdictOn('s1', { id: 'c2', name: 'exec', input: {} })).toMatchObject({
      verdict: { verdict: 'deny' },
    })
    const waitedMs = waits.reduce<number>((sum, waitMs) => sum + (waitMs ?? 0), 0)
    expect(waitedMs).toBeLessThanOrEqual(limits.guestHoldMs)
  },
)

it('a session without hooks waits for no verdict', async () => {
  const guard = scriptedGuard({ after: () => [refused] })
  proxy = await proxied(guard, (_, response) => sendJson(response, messagesCase.answer))
  const headers = { 'x-claude-code-session-id': 's2' }
  const { url, sessions } = proxy
  await fetch(`${url}/v1/messages`, { method: 'POST', body: messagesCase.request, headers })
  await proxy.settled()
  expect(sessions.hasProxy({ agent: 'main', session: 's2' })).toBe(true)
  expect(sessions.hasHooks('s2')).toBe(false)
})
