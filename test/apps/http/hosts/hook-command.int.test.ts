// The command that hosts without HTTP hooks run, in a real shell.

import { execFileSync, spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import { noticeCommand } from '../../../../apps/http/hosts/claude-code.ts'
import { hookCommand } from '../../../../apps/http/hosts/host.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

/** Answers each request with this status and text. Undefined: never. */
async function serve(
  status: number | undefined,
  text = '',
): Promise<[url: string, bodies: string[]]> {
  const bodies: string[] = []
  const listening = createServer(async (request, response) => {
    bodies.push(await textOf(request))
    if (status !== undefined) response.writeHead(status, { 'x-weir-mark': 'weir/1' }).end(text)
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  return [
    `http://127.0.0.1:${(listening.address() as AddressInfo).port}/v1/hooks/codex/pre`,
    bodies,
  ]
}

type Ended = { code: number | null; out: string; errors: string }

function run(
  url: string,
  { seconds = 30, path = process.env.PATH ?? '' }: { seconds?: number; path?: string } = {},
): Promise<Ended> {
  return runCommand(hookCommand({ host: 'codex', url, seconds, failsClosed: true }), path)
}

function runCommand(command: string, path = process.env.PATH ?? ''): Promise<Ended> {
  const child = spawn('/bin/sh', ['-c', command], { env: { PATH: path } })
  child.stdin.on('error', () => {}) // it may end before it reads
  child.stdin.end('{"session_id": "s1"}\n')
  const texts = Promise.all([textOf(child.stdout), textOf(child.stderr)])
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', async (code) => {
      const [out, errors] = await texts
      resolve({ code, out, errors })
    })
  })
}

const withCurl = hasCurl() ? describe : describe.skip

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'])
    return true
  } catch {
    return false
  }
}

withCurl('the command of a hook', () => {
  it('posts its input and prints the answer', async () => {
    const [url, bodies] = await serve(200, '{"continue": true}')
    expect(await run(url)).toEqual({ code: 0, out: '{"continue": true}', errors: '' })
    expect(bodies).toEqual(['{"session_id": "s1"}'])
  })

  it('has no opinion without an answer in the body', async () => {
    const [url] = await serve(200)
    expect(await run(url)).toEqual({ code: 0, out: '', errors: '' })
  })

  it.each([400, 500, 503])('refuses the call after status %d', async (status) => {
    const [url] = await serve(status, 'oops')
    const { code, out, errors } = await run(url)
    expect([code, out]).toEqual([2, ''])
    expect(errors).toContain('Weir does not answer, so this was stopped.')
  })

  it('refuses the call if nothing listens', async () => {
    const { code, errors } = await run('http://127.0.0.1:9/v1/hooks/codex/pre')
    const remedy = 'Start weir proxy, or remove its hooks with: weir hooks remove codex\n'
    expect([code, errors]).toEqual([2, expect.stringContaining(remedy)])
  })

  it('refuses the call before the time limit of the host', async () => {
    const [url] = await serve(undefined)
    expect((await run(url, { seconds: 6 })).code).toBe(2)
  })
})

describe('the command of a hook without curl', () => {
  it('refuses the call', async () => {
    const { code, errors } = await run('http://127.0.0.1:9/v1/hooks/codex/pre', {
      path: '/nowhere',
    })
    expect([code, errors]).toEqual([2, expect.stringContaining('Weir does not answer')])
  })
})

withCurl('the command of Claude Code at the end of a session', () => {
  it.each([
    ['fails with the reason of an ended turn as its error output', 200, 'Weir ended: \\033[2J', 1],
    ['succeeds without a reason', 200, '', 0],
    ['succeeds with an answer that is no reason', 503, 'oops', 0],
  ])('%s', async (_, status, answer, code) => {
    const [url, bodies] = await serve(status, answer)
    const errors = code === 0 ? '' : `${answer}\n`
    expect(await runCommand(noticeCommand(url))).toEqual({ code, out: '', errors })
    expect(bodies).toEqual(['{"session_id": "s1"}'])
  })

  it('reports that Weir does not answer', async () => {
    const [url] = await serve(200)
    await new Promise((resolve) => server?.close(resolve))
    expect(await runCommand(noticeCommand(url))).toEqual({
      code: 1,
      out: '',
      errors: expect.stringMatching(/Weir does not answer.*weir hooks remove claude-code\n$/),
    })
  })
})
