// Recorded runs of real hosts, request by request through the real proxy and hooks: honest work gets no
// advice, and a loop gets each action at its request.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { withLog } from '../../apps/history/open-log.ts'
import { startFrontServer } from '../../apps/http/front-server.ts'
import { openFronts } from '../../client/guard/log/fronts.ts'
import { newestConversations } from '../../client/history/newest-conversations.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import { startModelServer } from './model-server.ts'
import {
  type RecordedCase,
  recordedCases,
  type WholeRequest,
  wholeRequests,
} from './recorded-case.ts'

type Front = 'proxy' | 'veto' | 'hooks' | 'proxy and hooks'

/** The advice of a loop, by the number of the request in its conversation. */
const actions: Record<string, Record<number, string>> = {
  'I1, a call without its argument': { 4: 'nudge', 5: 'text_only' },
  'I3, a call that succeeds again and again': { 6: 'nudge', 7: 'text_only' },
  'a call with other wrong arguments each time': { 4: 'nudge', 5: 'text_only' },
  'arguments that end in the middle': { 4: 'nudge', 5: 'text_only' },
  'two sub-agents that loop at once': { 4: 'nudge', 5: 'text_only' },
}

const hostNames: Record<string, string> = { 'Claude Code': 'claude-code', Codex: 'codex' }

type Replayed = {
  /** The advice in answers of the proxy, by conversation and number of the request in it. */
  advice: string[]
  /** The answers of hooks that have a content, by the number of requests before them. */
  hookAnswers: string[]
  /** Requests at the provider. */
  upstream: number
  /** Rules, actions, denials and denials in the log. */
  facts: string[]
}

async function replay(recorded: RecordedCase, front: Front): Promise<Replayed> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-replayed-'))
  const settings = readSettings({ dataFolder: folder }, {})
  const requests = endsOfLoop(recorded, wholeRequests(recorded))
  const hooks = front.includes('hooks') ? recorded.hooks : []
  const log = pino({ level: 'silent' })
  let next = 0
  const model = await startModelServer(() => requests[next]?.answer ?? { text: 'ok' })
  try {
    const fronts = await openFronts({ kind: 'folder', settings }, { log })
    const server = await startFrontServer({
      fronts,
      upstream: model.url,
      veto: front === 'veto' ? { coversSubscriptions: false } : undefined,
      agent: 'main',
      host: '127.0.0.1',
      port: 0,
      log,
    })
    const advice: string[] = []
    const hookAnswers: string[] = []
    const sendHooks = async (after: number) => {
      for (const { kind, body } of hooks.filter((hook) => hook.after === after)) {
        const path = `/v1/hooks/${hostNames[recorded.host]}/${kind}`
        const answer = await fetch(server.url + path, {
          method: 'POST',
          body: JSON.stringify(body),
        })
        const text = await answer.text()
        if (answer.status !== 200 || text !== '')
          hookAnswers.push(`${after} ${kind}: ${answer.status} ${text}`)
      }
    }
    const counts = new Map<number, number>()
    await sendHooks(0)
    for (const [at, request] of requests.entries()) {
      next = at
      const number = (counts.get(request.thread) ?? 0) + 1
      counts.set(request.thread, number)
      if (front !== 'hooks') {
        const action = await send(server.url, request)
        if (action !== null) advice.push(`${request.thread}: ${number} ${action.split(';')[0]}`)
      }
      await sendHooks(at + 1)
    }
    await server.close()
    await fronts.close()
    const found = await withLog(settings, (log) => newestConversations(log, 100))
    return {
      advice,
      hookAnswers,
      upstream: model.requests.length,
      facts: found.flatMap(({ facts }) => [
        ...Object.entries(facts.rules).map(([rule, count]) => `${count} x ${rule}`),
        ...Object.entries(facts.actions).map(([action, count]) => `${count} x ${action}`),
        ...Object.entries(facts.denials).map(([guard, count]) => `${count} x ${guard}`),
        ...(facts.deniedByChecks > 0 ? [`${facts.deniedByChecks} denials by checks`] : []),
      ]),
    }
  } finally {
    await model.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function send(url: string, { path, headers, body }: WholeRequest): Promise<string | null> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'x-api-key': 'dummy' },
    body: JSON.stringify(body),
  })
  await answer.text()
  return answer.headers.get('x-weir')
}

/** A recorded loop goes on, because nobody ended it. Each conversation ends with its last action. */
function endsOfLoop({ title }: RecordedCase, requests: WholeRequest[]): WholeRequest[] {
  const last = Math.max(
    ...Object.keys(actions[title] ?? { [Number.MAX_SAFE_INTEGER]: '' }).map(Number),
  )
  const counts = new Map<number, number>()
  return requests.filter(({ thread }) => {
    const number = (counts.get(thread) ?? 0) + 1
    counts.set(thread, number)
    return number <= last
  })
}

const all = recordedCases()
const honest = all.filter(({ title }) => actions[title] === undefined)
const loops = all.filter(({ title }) => actions[title] !== undefined)
const frontsOf = ({ host }: RecordedCase): Front[] =>
  hostNames[host] === undefined ? ['proxy', 'veto'] : ['proxy', 'veto', 'hooks', 'proxy and hooks']

const named = (cases: RecordedCase[], fronts: (one: RecordedCase) => Front[]) =>
  cases.flatMap((one) =>
    fronts(one).map((front) => ({ name: `${one.host}, ${one.title}`, front, one })),
  )

describe('a recorded run of honest work gets no advice', () => {
  it.each(named(honest, frontsOf))('$front: $name', async ({ front, one }) => {
    const { advice, hookAnswers, upstream, facts } = await replay(one, front)
    expect({ advice, hookAnswers, facts }).toEqual({ advice: [], hookAnswers: [], facts: [] })
    if (front !== 'hooks') expect(upstream).toBe(one.requests.length)
  })
})

describe('a recorded loop gets each action at its request', () => {
  const fronts = (one: RecordedCase): Front[] =>
    hostNames[one.host] === undefined ? ['proxy'] : ['proxy', 'proxy and hooks']
  it.each(named(loops, fronts))('$front: $name', async ({ front, one }) => {
    const { advice } = await replay(one, front)
    const looping = new Set(wholeRequests(one).map(({ thread }) => thread))
    if (looping.size > 1) looping.delete(0) // it only starts the others
    const expected = [...looping].flatMap((thread) =>
      Object.entries(actions[one.title] ?? {}).map(
        ([number, action]) => `${thread}: ${number} ${action}`,
      ),
    )
    expect(advice.toSorted()).toEqual(expected.toSorted())
  })
  // A hook of Codex shows no call that breaks its schema.
  const hooked = loops.filter((one) => one.host === 'Claude Code' && !one.title.includes('agents'))
  it.each(named(hooked, () => ['hooks']))('$front: $name', async ({ one }) => {
    const { hookAnswers } = await replay(one, 'hooks')
    const advised = hookAnswers.filter((answer) => answer.includes('SYSTEM INTERVENTION'))
    // The advice for a request comes after the results of the one before it.
    const expected = Object.keys(actions[one.title] ?? {}).map((number) => Number(number) - 1)
    expect(advised.map((answer) => Number.parseInt(answer, 10))).toEqual(expected)
    expect(hookAnswers.at(-1)).toContain('"continue":false')
    expect(hookAnswers.join()).not.toContain('__unparsedToolInput')
  })
})
