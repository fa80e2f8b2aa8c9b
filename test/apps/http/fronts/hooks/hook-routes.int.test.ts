// The route of hooks: paths, payloads, status codes.

import { afterEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { hookRoutes } from '../../../../../apps/http/fronts/hooks/hook-routes.ts'
import { hostSessions } from '../../../../../apps/http/fronts/hooks/host-sessions.ts'
import { guardsByAgent } from '../../../../../apps/http/guards-by-agent.ts'
import { type HttpServer, startHttpServer } from '../../../../../apps/http/server.ts'
import type { GuardSession } from '../../../../../client/guard/guest-conversation.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { systemClock } from '../../../../../shared/lib/clock.ts'
import { scriptedGuard } from '../../scripted-guard.ts'

let server: HttpServer | undefined

afterEach(() => server?.close())

async function serve(
  guard: GuardSession | Error,
): Promise<(path: string, body: string) => Promise<Response>> {
  const log = pino({ level: 'silent' })
  const { guardOf } = guardsByAgent(async () => {
    if (guard instanceof Error) throw guard
    return guard
  })
  const sessions = hostSessions(systemClock)
  const routes = [hookRoutes({ guardOf, sessions, clock: systemClock, log })]
  server = await startHttpServer({ host: '127.0.0.1', port: 0, log, routes })
  const { url } = server
  return (path, body) => fetch(`${url}/v1/hooks/${path}`, { method: 'POST', body })
}

const pre = {
  session_id: 's1',
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 'c1',
}
const verdict = { callId: 'c1', name: 'Bash', text: '', code: '' as const }

describe('the route of hooks', () => {
  it('refuses a payload that nests too deeply', async () => {
    const hook = await serve(scriptedGuard())
    const deep = `{"deep":${'['.repeat(600)}${']'.repeat(600)},${JSON.stringify(pre).slice(1)}`
    const refused = await hook('claude-code/pre', deep)
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('with at most 512 levels'),
    ])
  })

  it.each([
    ['members', 'pre', { tool_input: new Array(limits.bodyMembersMax).fill(0) }, 'members'],
    [
      'calls',
      'batch',
      { tool_calls: new Array(limits.responseCallsMax + 1).fill({ ...pre, tool_response: '' }) },
      'at most 256 calls',
    ],
  ])('refuses a payload with too many %s before it is judged', async (_, kind, more, reason) => {
    const guard = scriptedGuard()
    const hook = await serve(guard)
    const refused = await hook(`claude-code/${kind}`, JSON.stringify({ ...pre, ...more }))
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(reason)])
    expect(guard.asked).toEqual([])
  })

  it('answers 503 if the guest of an event cannot be opened', async () => {
    const hook = await serve(new Error('its file is gone'))
    expect((await hook('claude-code/pre', JSON.stringify(pre))).status).toBe(503)
    expect((await hook('No.Name/pre', JSON.stringify(pre))).status).toBe(404)
  })

  it('answers a call that may run with an empty body', async () => {
    const hook = await serve(scriptedGuard({ after: () => [{ ...verdict, verdict: 'allow' }] }))
    const answer = await hook('claude-code/pre', JSON.stringify(pre))
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })

  it('shows the guard each digit of a call, as the host runs it', async () => {
    const guard = scriptedGuard({ after: () => [{ ...verdict, verdict: 'allow' }] })
    const hook = await serve(guard)
    const text = '{"account":9007199254740993,"limit":1e999}'
    await hook('claude-code/pre', JSON.stringify(pre).replace('{"command":"ls"}', text))
    const judged = guard.asked.find(({ kind }) => kind === 'after')
    expect(judged).toMatchObject({
      answer: { pieces: expect.arrayContaining([expect.objectContaining({ arguments: text })]) },
    })
  })

  it('judges a call as the one of the host that the guest is named after', async () => {
    const guard = scriptedGuard({ after: () => [{ ...verdict, verdict: 'allow' }] })
    const hook = await serve(guard)
    await hook('claude-code/pre', JSON.stringify(pre))
    await hook('coder/pre', JSON.stringify({ ...pre, session_id: 's2' }))
    const hosts = guard.asked.flatMap((one) =>
      one.kind === 'after' ? [one.answer.request.host] : [],
    )
    expect(hosts).toEqual(['claude-code', undefined])
  })

  it('answers a refused call with the JSON of a denial', async () => {
    const hook = await serve(
      scriptedGuard({ after: () => [{ ...verdict, verdict: 'deny', text: 'No.' }] }),
    )
    const answer = await hook('claude-code/pre', JSON.stringify(pre))
    expect(await answer.json()).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'No.',
      },
    })
  })

  it('answers a batch that Weir cannot judge with an error, and names no cause', async () => {
    const hook = await serve(
      scriptedGuard({
        after: () => [{ ...verdict, verdict: 'allow' }],
        before: () => {
          throw new Error('sk-secret')
        },
      }),
    )
    const { hook_event_name: _, ...call } = pre
    const answer = await hook(
      'claude-code/batch',
      JSON.stringify({ ...call, hook_event_name: 'PostToolBatch', tool_calls: [call] }),
    )
    expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringContaining('sk-')])
  })

  it('answers a payload without an id with the name of the field', async () => {
    const hook = await serve(scriptedGuard())
    const answer = await hook('codex/pre', JSON.stringify({ ...pre, tool_use_id: '' }))
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('tool_use_id must be a text')
  })

  it('refuses a body that is no JSON object', async () => {
    const hook = await serve(scriptedGuard())
    for (const body of ['', '[]', '{"session_id": ', 'null'])
      expect((await hook('codex/pre', body)).status).toBe(400)
  })

  it('answers an unknown kind with the known ones', async () => {
    const hook = await serve(scriptedGuard())
    const answer = await hook('codex/before', JSON.stringify(pre))
    expect(answer.status).toBe(404)
    expect(await answer.text()).toContain('prompt, pre, post, batch, stop')
  })
})
