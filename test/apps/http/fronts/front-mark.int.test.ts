// The mark of a front's answers: each client of ours against Weir, and against servers in its place.

import { execFileSync, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { startFrontServer } from '../../../../apps/http/front-server.ts'
import { markedRoutes } from '../../../../apps/http/fronts/front-mark.ts'
import { hookRoutes } from '../../../../apps/http/fronts/hooks/hook-routes.ts'
import { hostSessions } from '../../../../apps/http/fronts/hooks/host-sessions.ts'
import { guardsByAgent } from '../../../../apps/http/guards-by-agent.ts'
import { guestRoutes } from '../../../../apps/http/guest-routes.ts'
import { serverAt } from '../../../../apps/http/hosts/hooks-command.ts'
import { hookCommand } from '../../../../apps/http/hosts/host.ts'
import { startHttpServer } from '../../../../apps/http/server.ts'
import { openFronts } from '../../../../client/guard/log/fronts.ts'
import { weirHooks } from '../../../../integrations/weir-hooks.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { ownSecret, ownSecretFile } from '../../../../shared/lib/files/folder-owner.ts'
import { scriptedGuard } from '../scripted-guard.ts'

const { XDG_STATE_HOME: stateOfRun } = process.env
let root: string
const closing: (() => unknown)[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'weir-mark-'))
})
afterEach(async () => {
  process.env.XDG_STATE_HOME = stateOfRun
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(() => rm(root, { recursive: true }))

/** This process is another user from here on, with or without a secret. */
function become(user: string): void {
  process.env.XDG_STATE_HOME = user === 'nobody' ? '/dev/null' : join(root, user)
  expect(ownSecret() === undefined).toBe(user === 'nobody')
}

/** A front whose guard allows each call. */
async function weir(): Promise<string> {
  const log = pino({ level: 'silent' })
  const guard = scriptedGuard({
    after: () => [{ callId: 'c1', name: 'Bash', verdict: 'allow', text: '', code: '' }],
  })
  const { guardOf } = guardsByAgent(async () => guard)
  const sessions = hostSessions(systemClock)
  const options = { guardOf, sessions, clock: systemClock, log }
  const routes = [markedRoutes, guestRoutes({ guardOf }), hookRoutes(options)]
  const server = await startHttpServer({ host: '127.0.0.1', port: 0, log, routes })
  closing.push(() => server.close())
  return server.url
}

async function foreign(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Passes each request on to `front`, and changes a part of the exchange. */
function relay(
  front: string,
  change: { path?(path: string): string; body?(text: string): string; answer?: string },
): Promise<string> {
  return foreign(async (request, response) => {
    const sent = await textOf(request)
    const { path = (one: string) => one, body = (one: string) => one } = change
    const answer = await fetch(`${front}${path(request.url ?? '')}`, {
      method: 'POST',
      headers: { 'x-weir-nonce': `${request.headers['x-weir-nonce']}` },
      body: body(sent),
    })
    const text = await answer.text()
    response.setHeader('x-weir-mark', answer.headers.get('x-weir-mark') ?? '')
    response.writeHead(200).end(change.answer ?? text)
  })
}

type Outcome = { runs: boolean; text: string }
type Client = (front: string, environment?: Record<string, string>) => Promise<Outcome>

/** Each asks for a verdict, or for advice. */
const clients: Record<string, Client> = {
  async 'the command of a hook'(front, environment = {}) {
    const url = `${front}/v1/hooks/codex/pre`
    const command = hookCommand({ host: 'codex', url, seconds: 30, failsClosed: true })
    const env = { ...process.env, ...environment }
    const child = spawn('/bin/sh', ['-c', command], { env })
    const event = {
      hook_event_name: 'PreToolUse',
      session_id: 's1',
      tool_use_id: 'c1',
      tool_name: 'Bash',
      tool_input: { command: 'echo "100% – \\n"' },
    }
    child.stdin.end(`${JSON.stringify(event)}\n`)
    const code = new Promise<number | null>((resolve) => child.on('close', resolve))
    const text = await textOf(child.stderr)
    return { runs: (await code) === 0, text }
  },
  async 'the client of a plug-in'(front, environment = {}) {
    const env = { ...process.env, ...environment, WEIR_URL: front, WEIR_COMMAND: 'false' }
    const call = { id: 'c1', name: 'Bash', input: { command: 'echo "100% – \\n"' } }
    const { deny } = await weirHooks('pi', env).before({ session: 's1' }, call)
    return { runs: deny === undefined, text: deny ?? '' }
  },
  async 'the guardrail of LiteLLM'(front, environment = {}) {
    const env = { ...process.env, ...environment, WEIR_URL: front }
    const file = join(import.meta.dirname, '../../../integrations/guardrail_mark.py')
    const child = spawn('python3', ['-B', file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const text = (await textOf(child.stdout)).trim()
    return text === 'runs' ? { runs: true, text: '' } : { runs: false, text }
  },
}

const hasCurl = () => {
  try {
    return execFileSync('curl', ['--version']).length > 0
  } catch {
    return false
  }
}
const cases = Object.entries(clients).filter(
  ([name]) => hasCurl() || !name.startsWith('the command'),
)
const replaced = /(?:A|a)nother server answers at http:\S+ in place of your Weir/

describe.each(cases)('%s', (_, client) => {
  it.each(['user', 'nobody'])('runs a call that the Weir of %s allows', async (user) => {
    become(user)
    expect(await client(await weir())).toEqual({ runs: true, text: '' })
  })

  it.each(['user', 'nobody'])(
    'as %s runs no call after an empty answer of another server',
    async (user) => {
      become(user)
      for (const status of [200, 302]) {
        const { runs, text } = await client(
          await foreign((_, answer) => answer.writeHead(status).end()),
        )
        expect([runs, text]).toEqual([
          false,
          expect.stringMatching(status === 200 ? replaced : /./),
        ])
      }
    },
  )

  it('runs no call if the server has the name of the mark only', async () => {
    become('user')
    const front = await foreign((_, answer) => answer.setHeader('x-weir-mark', 'weir/1').end())
    expect(await client(front)).toEqual({ runs: false, text: expect.stringMatching(replaced) })
  })

  it('runs no call if a relay changes the answer, the request or its path', async () => {
    become('user')
    const front = await weir()
    expect(await client(await relay(front, {}))).toEqual({ runs: true, text: '' })
    for (const change of [
      { answer: '{}' },
      { body: (text: string) => text.replace('100%', '1%') },
      {
        path: (path: string) =>
          path.replace(/(pre|before-model)$/, (kind) => (kind === 'pre' ? 'stop' : 'end-turn')),
      },
    ]) {
      const { runs, text } = await client(await relay(front, change))
      expect([runs, text]).toEqual([false, expect.stringMatching(replaced)])
    }
  })

  it('accepts the Weir of another user only where its user has turned the proof off', async () => {
    become('user')
    become('other')
    const front = await weir()
    const own = { XDG_STATE_HOME: join(root, 'user') }
    expect(await client(front, own)).toEqual({ runs: false, text: expect.stringMatching(replaced) })
    expect((await client(front, { ...own, WEIR_PROOF: 'off' })).runs).toBe(true)
  })
})

describe.each(cases.slice(0, hasCurl() ? 1 : 0))('%s', (_, client) => {
  it.each(['od', 'tr', 'cut', 'sha256sum'])(
    'runs no call on a machine without %s, which cannot compute the proof',
    async (missing) => {
      become('user')
      const PATH = join(root, `without-${missing}`)
      await mkdir(PATH)
      for (const program of ['cat', 'curl', 'cut', 'od', 'sha256sum', 'tr'])
        if (program !== missing)
          await symlink(
            execFileSync('which', [program], { encoding: 'utf8' }).trim(),
            join(PATH, program),
          )
      const front = await foreign((_, answer) =>
        answer.setHeader('x-weir-mark', ['weir/1', 'weir/1 ']).end(),
      )
      expect((await client(front, { PATH })).runs).toBe(false)
    },
  )
})

describe('the mark of a front', () => {
  it('is on each answer, and a proof on none with an error', async () => {
    become('user')
    const front = await weir()
    const headers = { 'x-weir-nonce': 'n' }
    const marks = await Promise.all(
      ['hooks/codex/pre', 'guest/x/before-model', 'other'].map(async (path) => {
        const answer = await fetch(`${front}/v1/${path}`, { method: 'POST', headers, body: '{' })
        return [answer.status, answer.headers.get('x-weir-mark')]
      }),
    )
    expect(marks).toEqual([
      [400, 'weir/1'],
      [400, 'weir/1'],
      [404, 'weir/1'],
    ])
  })

  it('has no proof by a secret that other users can read, and weir hooks status finds that', async () => {
    become('open')
    await chmod(ownSecretFile(), 0o644)
    const front = await weir()
    expect(await serverAt(`${front}/v1/hooks/codex/pre`)).toBe('foreign')
    for (const [, client] of cases) expect((await client(front)).runs).toBe(false)
  })

  it.each([undefined, { coversSubscriptions: false }])(
    'is on the answers of the proxy with the veto %j',
    async (veto) => {
      const log = pino({ level: 'silent' })
      const message = { role: 'assistant', content: 'hi' }
      const completion = {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
      }
      const upstream = await foreign((_, answer) =>
        answer
          .setHeader('content-type', 'application/json')
          .setHeader('x-weir-mark', 'weir/9')
          .end(JSON.stringify(completion)),
      )
      const fronts = await openFronts({ kind: 'memory' }, { log })
      const place = { host: '127.0.0.1', port: 0 }
      const server = await startFrontServer({
        fronts,
        upstream,
        veto,
        agent: 'main',
        log,
        ...place,
      })
      closing.push(
        () => fronts.close(),
        () => server.close(),
      )
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
      const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body })
      expect([answer.status, answer.headers.get('x-weir-mark')]).toEqual([200, 'weir/1'])
    },
  )

  it('tells Weir, the Weir of another user, and another server apart', async () => {
    become('user')
    const urlOf = (front: string) => `${front}/v1/hooks/codex/pre`
    const own = await weir()
    expect(await serverAt(urlOf(own))).toBe('weir')
    const listing = await foreign((_, answer) =>
      answer.end('{"hooks":["prompt","pre","post","batch","stop","end"]}'),
    )
    expect(await serverAt(urlOf(listing))).toBe('other')
    become('other')
    expect(await serverAt(urlOf(await relayOfOwn(own)))).toBe('foreign')
  })
})

/** Answers for GET with the mark that its front gave to nobody in particular. */
function relayOfOwn(front: string): Promise<string> {
  return foreign(async (request, response) => {
    const answer = await fetch(`${front}${request.url}`)
    response.setHeader('x-weir-mark', answer.headers.get('x-weir-mark') ?? '')
    response.end(await answer.text())
  })
}
