// The calls of recorded answers, found again by the hooks of their hosts.

import { describe, expect, it } from '@jest/globals'
import type { HookCall } from '../../../../../apps/http/fronts/hooks/hook-payload.ts'
import { proxiedCalls } from '../../../../../apps/http/fronts/proxy/proxied-calls.ts'
import { noUsage } from '../../../../../shared/contract/turn/no-usage.ts'
import { hostOfRequest } from '../../../../../shared/hosts/hosts.ts'
import type { ModelAnswer } from '../../../../../shared/wire/exchange.ts'
import { recordedCases, type WholeRequest, wholeRequests } from '../../../../hosts/recorded-case.ts'

type Call = { id: string; name: string; arguments: string }

/** The answer with these calls, and its request, as the proxy has them. */
function proxied({ path, headers, body }: Omit<WholeRequest, 'thread' | 'answer'>, calls: Call[]) {
  const format = path.includes('/messages') ? 'anthropic' : 'openai-responses'
  const items = calls.map((call) => ({ kind: 'call' as const, ...call }))
  const answer: ModelAnswer = {
    id: '',
    model: '',
    items,
    stop: 'calls',
    finish: '',
    usage: noUsage,
  }
  return proxiedCalls({ format, body, host: hostOfRequest(headers)?.name }, answer)
}

const cases = recordedCases()
  .filter(({ hooks }) => hooks.some(({ kind }) => kind === 'pre'))
  .map((recorded) => [`${recorded.host}: ${recorded.title}`, recorded] as const)

describe('a hook next to the proxy', () => {
  it.each(cases)('finds each call of %s', (_, recorded) => {
    const answers = wholeRequests(recorded).map((request) => {
      const calls = (request.answer.calls ?? []).map((call) => {
        const { id = '', name, input, namespace } = call as typeof call & { namespace?: string }
        const tool = namespace === undefined ? name : `${namespace}.${name}`
        return { id, name: tool, arguments: `${input}` }
      })
      return proxied(request, calls)
    })
    const held = recorded.hooks
      .filter(({ kind }) => kind === 'pre')
      .map(({ body }): HookCall => {
        return {
          id: `${body.tool_use_id}`,
          name: `${body.tool_name}`,
          input: body.tool_input,
        }
      })
    const lost = held.filter((call) => !answers.some(({ placesOf }) => placesOf(call).length > 0))
    expect(lost).toEqual([])
    const others = held.map((call) => ({ ...call, input: { command: 'rm -rf /' } }))
    for (const call of others)
      expect(answers.some(({ placesOf }) => placesOf(call).length > 0)).toBe(false)
  })

  it('finds a patch that its host shows as a command', () => {
    const patch = '*** Begin Patch'
    const { placesOf } = proxied(
      { path: '/v1/responses', headers: { 'x-codex-window-id': 'w' }, body: {} },
      [{ id: 'c', name: 'apply_patch', arguments: patch }],
    )
    expect(placesOf({ id: 'c', name: 'apply_patch', input: { command: patch } })).toEqual([0])
  })
})
