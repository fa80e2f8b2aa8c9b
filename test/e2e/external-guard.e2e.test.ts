// An external guard: a file whose guard calls a policy server over HTTP, from a shell. The server's
// verdicts are recorded, and a replay reads them without a call.

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import policyServer from '../examples/external-guard.ts'
import { call, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
let server: Server
let requests: number
let answer: object

beforeEach(async () => {
  requests = 0
  answer = { allow: false }
  server = createServer((_, response) => {
    requests += 1
    response.end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await commands?.close()
})

async function ask(mode: 'enforce' | 'shadow') {
  commands = await openCommandFolder(
    script(says(call('act', { deploy: 'now' })), says(text('Done.'))),
  )
  const { port } = server.address() as AddressInfo
  await writeFile(
    join(commands.folder, 'server.mjs'),
    `export default {
      name: 'server', version: '1', tools: ['act'], deadlineMs: 20_000, onTimeout: 'deny',
      external: true,
      async judge(_state, { calls }, { signal }) {
        const response = await fetch('http://127.0.0.1:${port}', { signal })
        const { allow } = await response.json()
        return { state: undefined, verdicts: calls.map(({ ordinal }) => allow
          ? { ordinal, verdict: 'allow' }
          : { ordinal, verdict: 'deny', code: 'server.no', text: 'Not now. Deploy tomorrow.' }) }
      },
    }`,
  )
  const guarded = ['--guard', 'server.mjs', '--guard-mode', mode]
  return commands.run(['ask', '--agent', 'agent.yaml', ...guarded, 'Deploy it.'])
}

describe('an external guard', () => {
  it("vetoes a call by the server's verdict", async () => {
    const { out, errors } = await ask('enforce')
    expect(out).toBe('Done.\n')
    expect(errors).toContain('vetoed by guard server: server.no')
  })

  it('vetoes a call that the server cannot judge', async () => {
    answer = { allow: { toString: 1 } }
    server.removeAllListeners('request').on('request', (request) => request.socket.destroy())
    const { out, errors } = await ask('enforce')
    expect(out).toBe('Done.\n')
    expect(errors).toContain('vetoed by guard server: guard.threw')
  })

  it('is not called in a replay, which reads its recorded verdicts', async () => {
    await ask('shadow')
    expect(requests).toBe(1)
    answer = { allow: true }
    const { code, out, errors } = await commands.run(['replay', '--guard', 'server.mjs'])
    expect({ code, errors }).toMatchObject({ code: 0 })
    expect(out).toContain('would be a denial by server@1: server.no')
    expect(out).not.toContain('not judged')
    expect(requests).toBe(1)
    const plain = await commands.run(['replay'])
    expect(plain.code).toBe(0)
  })

  it('of the guide denies the calls that its policy server names', async () => {
    const { port } = server.address() as AddressInfo
    process.env.POLICY_URL = `http://127.0.0.1:${port}`
    answer = { 1: 'Not on a Friday.' }
    const calls = [0, 1].map((ordinal) => ({ ordinal, name: 'deploy', arguments: {} }))
    const round = { conversation: 'c', turn: 0, round: 1, agent: 'a', time: 0, calls }
    const { signal } = new AbortController()
    expect(await policyServer.judge(undefined, round as never, { signal })).toMatchObject({
      verdicts: [{ verdict: 'allow' }, { verdict: 'deny', text: 'Not on a Friday.' }],
    })
    delete process.env.POLICY_URL
  })

  it('needs recorded verdicts for a replay', async () => {
    await ask('shadow')
    const file = join(commands.folder, 'other.mjs')
    await writeFile(
      file,
      `export default { name: 'other', version: '1', tools: ['*'], deadlineMs: 1000,
        onTimeout: 'deny', external: true, judge: () => ({}) }`,
    )
    const { code, errors } = await commands.run(['replay', '--guard', file])
    expect(code).toBe(2)
    expect(errors).toContain('the guard other is external')
  })
})
