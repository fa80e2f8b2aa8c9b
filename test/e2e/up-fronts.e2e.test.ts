// `weir up --front-port` on the embedded bus: guests, the stages and the log in one process. Kafka is
// in kafka-guests.e2e.test.ts.

import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { loopingModel } from '../apps/http/fronts/proxy/looping-model.ts'
import {
  type ScriptedUpstream,
  scriptedUpstream,
} from '../apps/http/fronts/proxy/scripted-upstream.ts'
import { sdkAgents } from '../apps/http/fronts/proxy/sdk-clients.ts'
import { answerOf, requestOf, saidCall } from '../support/guest-requests.ts'
import { type Era, eras, hostOverHttp, serverCommand, textOf } from '../support/mcp/gateway.ts'
import { says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'
import { startUp, type WeirUp } from '../support/weir-up.ts'

let commands: CommandFolder
let model: ScriptedUpstream

beforeEach(async () => {
  commands = await openCommandFolder(script(says(text('Hello.'))))
  model = await scriptedUpstream(loopingModel())
})

afterEach(async () => {
  await commands.close()
  await model.close()
})

async function started(...args: string[]): Promise<WeirUp & { url: string }> {
  const up = startUp(commands, { args: ['--front-port', '0', ...args] })
  const { fronts } = await up.line('the fronts are started')
  return { ...up, url: fronts as string }
}

describe('weir up with the port of the fronts', () => {
  it('guards agents through the proxy without an agent file, and keeps their log', async () => {
    const { url, signal, ended } = await started('--upstream', `${model.url}/v1`)
    for (const [, run] of sdkAgents)
      expect(await run(url, true)).toEqual({ requests: 5, reply: 'I stop here.' })
    signal('SIGTERM')
    expect((await ended).code).toBe(0)
    const { out } = await commands.run(['conversations'])
    expect(out.match(/guest:guest:[0-9a-f]{32}/g)).toHaveLength(sdkAgents.length)
  })

  it('serves the routes of guests and of hooks, and no proxy without an upstream', async () => {
    await mkdir(join(commands.folder, 'guests'))
    await writeFile(
      join(commands.folder, 'guests', 'coder.yaml'),
      'guest: true\ncaps: { calls: 1 }\n',
    )
    const { url, signal, ended } = await started('--agents', 'guests')
    const post = (path: string, body: unknown) =>
      fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })
    const request = requestOf('anthropic', [{ user: 'Go.', responses: [] }])
    const { answer } = answerOf(request, {
      text: '',
      calls: ['a', 'b'].flatMap((id) => saidCall('exec', { command: id }, { id }).calls),
    })
    const verdicts = await post('/v1/guest/coder/after-model', {
      conversation: 't',
      ...request,
      answer,
    })
    // The agent file allows one call.
    expect(await verdicts.json()).toMatchObject({
      calls: [{ verdict: 'allow' }, { verdict: 'deny' }],
    })
    expect((await post('/v1/hooks/claude-code/prompt', {})).status).not.toBe(404)
    expect((await post('/v1/messages', request.body)).status).toBe(404)
    signal('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  it.each([
    [['--front-port', '70000'], '--front-port is "70000"'],
    [['--http-port', '70000', '--mcp', 'servers.yaml'], '--http-port is "70000"'],
    [['--upstream', 'http://h'], '--upstream needs the server of the fronts'],
    [['--mcp', 'mcp.json'], '--mcp needs the server of the fronts'],
    [['--front-port', '0', '--mcp', 'mcp.json'], 'mcp.json'],
    [['--front-port', '0', '--upstream', 'h'], '--upstream is "h"; it must be a URL'],
    [['--front-port', '0', '--front-agent', '../x'], 'the name of the guest is "../x"'],
    [
      ['--front-port', '0', '--front-host', '0.0.0.0'],
      '--front-host 0.0.0.0 is open to other machines, and the server asks for no key',
    ],
  ])('refuses %j with exit code 2 and opens nothing', async (args, problem) => {
    expect(await startUp(commands, { args }).ended).toMatchObject({
      code: 2,
      errors: expect.stringContaining(problem),
    })
  })

  describe.each([
    ['on the front port', ['--front-port', '0'], 'the fronts are started', 'fronts'],
    ['on an HTTP port without agents', ['--http-port', '0'], 'the fronts are started', 'fronts'],
    [
      'on an edge without keys',
      ['--http-port', '0', '--agents', 'agent.yaml'],
      ...['the HTTP edge is started', 'edge'],
    ],
  ] as [string, string[], string, string][])('and --mcp %s', (_place, args, line, field) => {
    it.each(eras)('guards the calls of a host of the %s era', async (era: Era) => {
      const [command, ...rest] = serverCommand
      const mcpServers = { test: { command, args: rest } }
      await writeFile(join(commands.folder, 'mcp.json'), JSON.stringify({ mcpServers }))
      const up = startUp(commands, { args: [...args, '--mcp', 'mcp.json'] })
      const url = (await up.line(line))[field] as string
      const host = await hostOverHttp(`${url}/mcp/coder/one`, { era })
      expect(await textOf(host, 'test__weather', { city: 'Rome' })).toEqual({
        text: '18 °C in Rome',
        isError: false,
      })
      const answers: string[] = []
      for (let n = 0; n < 3; n += 1) answers.push((await textOf(host, 'test__weather')).text)
      expect(answers[2]).toContain('LOOP DETECTED')
      await host.close()
      up.signal('SIGTERM')
      expect((await up.ended).code).toBe(0)
      const { out } = await commands.run(['conversations'])
      expect(out).toContain('guest:coder:one')
    })
  })

  it('ends with 1 if a server after --mcp does not start', async () => {
    const mcpServers = { test: { command: process.execPath, args: ['-e', 'process.exit(3)'] } }
    await writeFile(join(commands.folder, 'mcp.json'), JSON.stringify({ mcpServers }))
    const up = startUp(commands, { args: ['--front-port', '0', '--mcp', 'mcp.json'] })
    expect((await up.ended).code).toBe(1)
    expect((await up.line('the stages cannot be started')).err).toMatchObject({
      message: expect.stringContaining('its program ended with code 3'),
    })
  })

  it('ends with 1 and its flags if its port is in use', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve)
    })
    const { port } = other.address() as AddressInfo
    const up = startUp(commands, { args: ['--front-port', `${port}`] })
    expect((await up.ended).code).toBe(1)
    expect((await up.line('the stages cannot be started')).err).toMatchObject({
      message: expect.stringMatching(/the port is in use; give another .* --front-port/),
    })
    other.close()
  })
})
