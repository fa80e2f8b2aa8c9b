// The recorded requests and hook payloads of real hosts, read by Weir.

import { describe, expect, it } from '@jest/globals'
import { hookKinds, hookPayloadOf } from '../../apps/http/fronts/hooks/hook-payload.ts'
import { historyOf } from '../../client/guard/history/history.ts'
import type { SeenRequest } from './model-server.ts'
import { recordedHost } from './recorded-host.ts'
import { transcriptOf } from './transcript.ts'

const recordings = {
  'claude-code': { format: 'anthropic', tool: 'Bash', argument: 'command' },
  codex: { format: 'openai-responses', tool: 'exec_command', argument: 'cmd' },
} as const

const names = ['claude-code', 'codex'] as const

function eventsOf(name: (typeof names)[number]) {
  return recordedHost(name).hooks.map(({ kind, body }) => {
    const known = hookKinds.find((one) => one === kind)
    if (known === undefined) throw new Error(`unknown kind ${kind}`)
    return hookPayloadOf(known, body)
  })
}

describe.each(names)('the recorded run of %s', (name) => {
  const { requests } = recordedHost(name)
  const { format, tool, argument } = recordings[name]
  const histories = requests.map(({ body }) => historyOf({ format, body }))

  it('has one turn, whose rounds grow by one with each request', () => {
    expect(histories.map(({ rounds }) => rounds.length)).toEqual([0, 1, 2])
    expect(new Set(histories.map(({ turnKey }) => turnKey)).size).toBe(1)
    for (const { user } of histories) expect(user).toMatch(/(^|\n)Do the task\.$/)
  })

  it('shows each call with its arguments and its result', () => {
    const rounds = histories.at(-1)?.rounds ?? []
    expect(rounds.map(({ spoken }) => spoken.calls.map(({ name }) => name))).toEqual([
      [tool, tool],
      [tool],
    ])
    expect(rounds.map(({ spoken }) => spoken.calls.map((call) => call.arguments))).toEqual([
      [JSON.stringify({ [argument]: 'echo one' }), JSON.stringify({ [argument]: 'ls missing' })],
      ['{}'],
    ])
    expect(rounds.map(({ results }) => results.length)).toEqual([2, 1])
  })

  it('keeps the key of a round in every later request', () => {
    const [, second, third] = histories.map(({ rounds }) => rounds.map(({ key }) => key))
    expect(third?.slice(0, 1)).toEqual(second)
  })

  it('has one session and one turn in all hooks', () => {
    const events = eventsOf(name)
    expect(new Set(events.map(({ session }) => session)).size).toBe(1)
    expect(new Set(events.map(({ turn }) => turn)).size).toBe(1)
    expect(events[0]?.event).toEqual({ kind: 'prompt', text: 'Do the task.' })
    expect(events.at(-1)?.event).toEqual({ kind: 'stop' })
  })

  it('names the same calls in hooks and requests', () => {
    const called = histories.at(-1)?.rounds[0]?.spoken.calls.map(({ id }) => id)
    const held = eventsOf(name).flatMap(({ event }) =>
      event.kind === 'pre' ? [event.call.id] : [],
    )
    expect(held.toSorted()).toEqual(called?.toSorted())
  })
})

describe('the recorded hooks of Claude Code', () => {
  it('show a call that breaks the schema of its tool only with its batch', () => {
    const events = eventsOf('claude-code').map(({ event }) => event)
    const batches = events.flatMap((event) => (event.kind === 'batch' ? [event.calls] : []))
    expect(batches.map((calls) => calls.map(({ result }) => result.status))).toEqual([
      ['ok', 'ok'],
      ['error'],
    ])
    expect(batches[1]?.[0]?.result.text).toContain('InputValidationError')
  })

  it('tell a failed call from a successful one', () => {
    const results = eventsOf('claude-code').flatMap(({ event }) =>
      event.kind === 'post' ? [event.result] : [],
    )
    expect(results.toSorted((a, b) => b.status.localeCompare(a.status))).toMatchObject([
      { status: 'ok', text: 'one' },
      { status: 'error', text: expect.stringContaining('Exit code 2') },
    ])
  })

  it('name the session that the requests name in a header', () => {
    const { requests } = recordedHost('claude-code')
    const [{ session } = { session: '' }] = eventsOf('claude-code')
    for (const { headers } of requests) expect(headers['x-claude-code-session-id']).toBe(session)
  })
})

describe('the recorded requests of Codex', () => {
  it('tell a failed command by its exit code', () => {
    const { requests } = recordedHost('codex')
    const [round] = historyOf({ format: 'openai-responses', body: requests.at(-1)?.body }).rounds
    expect(round?.results.map(({ status }) => status)).toEqual(['ok', 'error'])
  })
})

describe('the recorded hooks of Codex', () => {
  it('name the turn that the requests name in a header', () => {
    const [request] = recordedHost('codex').requests
    const metadata = JSON.parse(request?.headers['x-codex-turn-metadata'] ?? '')
    const [event] = eventsOf('codex')
    expect([event?.session, event?.turn]).toEqual([metadata.thread_id, metadata.turn_id])
  })
})

describe('a transcript', () => {
  const answered = (...results: [id: string, content: string][]): SeenRequest => {
    const content = results.map(([tool_use_id, text]) => ({
      type: 'tool_result',
      tool_use_id,
      content: text,
    }))
    const body = { messages: [{ role: 'user', content }] }
    return { api: 'messages', path: '/v1/messages', headers: {}, body }
  }
  const linesOf = (request: SeenRequest) => transcriptOf({ requests: [request], home: '/h' })

  it('is the same for results that came in another order', () => {
    const first = linesOf(answered(['toolu_1', 'a'], ['toolu_2', 'b']))
    expect(linesOf(answered(['toolu_2', 'b'], ['toolu_1', 'a']))).toEqual(first)
  })

  it('is the same for an agent that needed longer', () => {
    const report = (ms: number) => `${'x'.repeat(300)}\nduration_ms: ${ms}`
    const first = linesOf(answered(['toolu_1', report(980)]))
    expect(linesOf(answered(['toolu_1', report(1250)]))).toEqual(first)
  })

  it('leaves out the notices of the host alone', () => {
    const notice = '<system-reminder>\n<status>completed</status>\n</system-reminder>'
    const body = { messages: [{ role: 'user', content: notice }] }
    const request: SeenRequest = { api: 'messages', path: '/v1/messages', headers: {}, body }
    expect(linesOf(request)).toEqual([])
  })

  it('differs for results that belong to another call', () => {
    const first = linesOf(answered(['toolu_1', 'a'], ['toolu_2', 'b']))
    expect(linesOf(answered(['toolu_1', 'b'], ['toolu_2', 'a']))).not.toEqual(first)
  })
})
