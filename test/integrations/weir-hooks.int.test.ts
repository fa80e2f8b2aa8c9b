// The client of the hooks that plug-ins share, against a server that answers as the front of hooks.

import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { weirHooks } from '../../integrations/weir-hooks.ts'
import { freePorts } from '../chaos/free-ports.ts'

const place = { session: 'one', turn: 'first' }
const call = { id: 'call-1', name: 'bash', input: { command: 'ls' } }

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** `answers`: by the last part of the path. */
async function served(answers: Record<string, [number, unknown]>) {
  const seen: { kind: string; body: Record<string, unknown> }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const kind = request.url?.split('/').at(-1) ?? ''
    seen.push({ kind, body: JSON.parse(text) })
    const [status, value] = answers[kind] ?? [200, undefined]
    response.setHeader('x-weir-mark', 'weir/1')
    response.writeHead(status).end(value === undefined ? '' : JSON.stringify(value))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const environment = { XDG_STATE_HOME: '/dev/null', WEIR_URL: url, WEIR_COMMAND: 'false' }
  return { seen, hooks: weirHooks('pi', environment) }
}

const denial = {
  hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' },
}

describe('the client of hooks in a plug-in', () => {
  it('lets a call run after an answer without an opinion', async () => {
    const { hooks, seen } = await served({})
    expect(await hooks.before(place, call)).toEqual({})
    expect(seen.map(({ kind }) => kind)).toEqual(['pre'])
    expect(seen[0]?.body).toEqual({
      hook_event_name: 'PreToolUse',
      session_id: 'one',
      turn_id: 'first',
      tool_use_id: 'call-1',
      tool_name: 'bash',
      tool_input: { command: 'ls' },
    })
  })

  it('reports the result of a denied call, because that result may end the turn', async () => {
    const end = { continue: false, stopReason: 'Weir ended the turn' }
    const { hooks, seen } = await served({ pre: [200, denial], batch: [200, end] })
    expect(await hooks.before(place, call)).toEqual({ deny: 'no', end: 'Weir ended the turn' })
    expect(seen.at(-1)?.body.tool_calls).toEqual([
      { tool_use_id: 'call-1', tool_name: 'bash', tool_input: { command: 'ls' }, error: 'no' },
    ])
  })

  it.each([503, 404, 302])(
    'denies a call and ends the turn after the status %d',
    async (status) => {
      const { hooks } = await served({ pre: [status, {}] })
      const judged = await hooks.before(place, call)
      expect(judged.deny).toContain(`status ${status}`)
      expect(judged.end).toBe(judged.deny)
    },
  )

  it('reports a failed call of this turn once, and repeats its advice in later requests', async () => {
    const advice = { hookSpecificOutput: { additionalContext: 'try something else' } }
    const { hooks, seen } = await served({ batch: [200, advice] })
    for (const kind of ['new', 'new', 'old', 'unheld'] as const)
      expect(await hooks.failed(place, call, 'no such file', kind)).toEqual({
        advice: 'try something else',
      })
    expect(seen).toHaveLength(1)
    expect(await hooks.failed(place, { ...call, id: 'older' }, 'no such file', 'old')).toEqual({})
    expect(seen).toHaveLength(1)
  })

  it('reports a call that was allowed and then failed, unless its host shows the result elsewhere', async () => {
    const { hooks, seen } = await served({})
    await hooks.before(place, call)
    await hooks.failed(place, call, 'no such file', 'unheld')
    expect(seen.map(({ kind }) => kind)).toEqual(['pre'])
    await hooks.failed(place, call, 'no such file', 'new')
    expect(seen.at(-1)?.body.tool_calls).toMatchObject([{ error: 'no such file' }])
  })

  it('reports no call again that was denied or has its result', async () => {
    const { hooks, seen } = await served({ pre: [200, denial] })
    await hooks.before(place, call)
    const count = seen.length
    expect(await hooks.failed(place, call, 'no', 'new')).toEqual({})
    expect(seen).toHaveLength(count)
    const other = { ...call, id: 'call-2' }
    await hooks.after(place, other, { isError: false, text: 'done' })
    expect(await hooks.failed(place, other, 'no', 'new')).toEqual({})
    expect(seen).toHaveLength(count + 1)
  })

  it('starts a server once for each prompt, and runs no call if none starts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-hooks-'))
    closing.push(() => rm(folder, { recursive: true }))
    const starts = join(folder, 'starts')
    writeFileSync(starts, '')
    const [port] = await freePorts(1)
    const hooks = weirHooks('pi', {
      WEIR_URL: `http://127.0.0.1:${port}`,
      WEIR_COMMAND: `echo "port is taken" >&2; echo start >> '${starts}'; false`,
    })
    expect(await hooks.prompt(place, 'hello')).toContain('port is taken')
    for (const _ of [1, 2]) {
      const { deny, end } = await hooks.before(place, call)
      expect(deny).toContain('Weir does not answer')
      expect(end).toBe(deny)
    }
    expect(readFileSync(starts, 'utf8')).toBe('start\n')
    await hooks.prompt(place, 'again')
    expect(readFileSync(starts, 'utf8')).toBe('start\nstart\n')
  })
})
