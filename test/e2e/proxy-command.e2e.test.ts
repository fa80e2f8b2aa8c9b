// `weir proxy` as a user runs it: an agent on an official SDK changes its base URL, and the log can be
// read afterwards.

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { ProxyAddress } from '../../apps/http/serve-proxy.ts'
import { loopingModel } from '../apps/http/fronts/proxy/looping-model.ts'
import {
  type ScriptedUpstream,
  scriptedUpstream,
  sendJson,
} from '../apps/http/fronts/proxy/scripted-upstream.ts'
import { type SdkAgent, sdkAgents } from '../apps/http/fronts/proxy/sdk-clients.ts'
import { begin, piecesOf, speaking } from '../apps/http/fronts/proxy/veto/answers.ts'
import { sdkForms } from '../apps/http/fronts/proxy/veto/sdk-chats.ts'
import { script } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
let model: ScriptedUpstream

beforeEach(async () => {
  commands = await openCommandFolder(script())
  model = await scriptedUpstream(loopingModel())
})

afterEach(async () => {
  await commands.close()
  await model.close()
})

function runOf(name: string): SdkAgent {
  const found = sdkAgents.find(([known]) => known === name)
  if (found === undefined) throw new Error(name)
  return found[1]
}

async function started(args: string[], environment = {}) {
  const running = commands.start(['proxy', '--port', '0', '--json', ...args], { environment })
  const lines = createInterface({ input: running.child.stdout })
  const line: string[] = await Promise.race([
    once(lines, 'line'),
    running.ended.then(({ errors }) => {
      throw new Error(errors)
    }),
  ])
  return { ...running, address: JSON.parse(line[0] ?? '') as ProxyAddress }
}

describe('weir proxy', () => {
  it('listens where other machines can connect only with --allow-remote', async () => {
    const open = ['--upstream', `${model.url}/v1`, '--host', '0.0.0.0']
    expect(await commands.run(['proxy', ...open])).toMatchObject({
      code: 2,
      errors: expect.stringContaining(
        'the server asks for no key: give 127.0.0.1, or --allow-remote',
      ),
    })
    const { address, child } = await started([...open, '--allow-remote'])
    expect(address.port).toBeGreaterThan(0)
    child.kill('SIGTERM')
  })

  it('signs for AWS with its own credentials, and not for other machines', async () => {
    const environment = { AWS_ACCESS_KEY_ID: 'PROXY', AWS_SECRET_ACCESS_KEY: 's' }
    const signing = ['--upstream', model.url, '--sign-aws', 'us-east-1']
    const confirmed = ['--sign-aws-host', '127.0.0.1']
    const { address, child } = await started([...signing, ...confirmed], environment)
    const body = '{"messages":[]}'
    await fetch(`${address.anthropicBaseUrl}/v1/messages`, { method: 'POST', body })
    const [request] = model.received
    expect(request?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=PROXY.*us-east-1/)
    child.kill('SIGTERM')
    for (const [more, reason] of [
      [['--allow-remote'], 'leave --allow-remote out'],
      [['--sign-aws', 'moon'], 'give a region, such as us-east-1'],
      [[], 'confirm yours with --sign-aws-host 127.0.0.1'],
      [['--sign-aws-host', 'localhost'], 'confirm yours with --sign-aws-host 127.0.0.1'],
      [['--upstream', 'https://amazonaws.com.example.org'], 'signs for hosts of Bedrock'],
    ] as const)
      expect(await commands.run(['proxy', ...signing, ...more], { environment })).toMatchObject({
        code: 2,
        errors: expect.stringContaining(reason),
      })
  })

  it('stops incident I1 of an agent that changes its base URL only', async () => {
    const { address, child, ended } = await started(['--upstream', `${model.url}/v1`])
    expect(address.openaiBaseUrl).toBe(`${address.anthropicBaseUrl}/v1`)
    for (const [, run] of sdkAgents)
      expect(await run(address.anthropicBaseUrl, true)).toEqual({
        requests: 5,
        reply: 'I stop here.',
      })
    child.kill('SIGTERM')
    const { code, errors } = await ended
    expect([code, errors]).toEqual([0, ''])
  })

  it('keeps a log that lists the conversation, also after it was killed', async () => {
    const run = runOf('Messages')
    const first = await started(['--upstream', model.url, '--data-folder', 'log'])
    await run(first.address.anthropicBaseUrl, false)
    first.child.kill('SIGKILL')
    await first.ended
    const again = await started(['--upstream', model.url, '--data-folder', 'log'])
    expect(await run(again.address.anthropicBaseUrl, false)).toMatchObject({ requests: 5 })
    again.child.kill('SIGTERM')
    expect((await again.ended).code).toBe(0)
    const { out } = await commands.run(['conversations', '--data-folder', 'log'])
    expect(out.match(/guest:guest:[0-9a-f]{32}/g)).toHaveLength(2)
  })

  it('hides the keys of its environment in the records of hooks', async () => {
    const key = 'ghp_4f9a8b7c6d5e1234'
    const { address, child, ended } = await started(
      ['--upstream', model.url, '--data-folder', 'log'],
      { GITHUB_TOKEN: key },
    )
    const call = {
      session_id: 's1',
      tool_name: 'Bash',
      tool_input: { command: `gh --token ${key}` },
      tool_use_id: 'c1',
    }
    for (const [kind, more] of [
      ['pre', { hook_event_name: 'PreToolUse' }],
      ['post', { hook_event_name: 'PostToolUse', tool_response: `the token is ${key}` }],
    ] as const) {
      const body = JSON.stringify({ ...call, ...more })
      const url = `${address.anthropicBaseUrl}/v1/hooks/claude-code/${kind}`
      const answer = await fetch(url, { method: 'POST', body })
      expect([answer.status, await answer.text()]).toEqual([200, ''])
    }
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    const { out } = await commands.run(['inspect', 'guest:claude-code:s1', '--data-folder', 'log'])
    expect(out).toContain('gh --token [key]')
    const folder = join(commands.folder, 'log')
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
    expect(files.join('\n')).not.toContain(key)
  })

  it('warns once of each kind of request that passes unjudged, and lists their number', async () => {
    const upstream = await scriptedUpstream((_, response) => sendJson(response, {}))
    try {
      const options = ['--upstream', upstream.url, '--data-folder', 'log']
      const { address, child, ended } = await started([...options])
      const post = (path: string, body: object) =>
        fetch(`${address.anthropicBaseUrl}${path}`, { method: 'POST', body: JSON.stringify(body) })
      for (let n = 0; n < 12; n += 1) {
        await post('/model/m/invoke', { messages: [] })
        if (n < 2) await post('/v1/responses', { input: 'go on', previous_response_id: `r${n}` })
      }
      await post('/v1/messages/count_tokens', {})
      child.kill('SIGTERM')
      const warnings = (await ended).errors.split('\n').filter((line) => line !== '')
      expect(warnings.map((line) => JSON.parse(line) as { kind: string })).toMatchObject([
        { kind: 'Bedrock', msg: expect.stringContaining('pass unjudged') },
        { kind: 'previous_response_id' },
      ])
      const { out } = await commands.run(['conversations', '--data-folder', 'log'])
      expect(out).toContain('guest:guest:unjudged')
      expect(out).toContain(
        '12 requests unjudged: Bedrock; 2 requests unjudged: previous_response_id',
      )
    } finally {
      await upstream.close()
    }
  })

  it('lists a turn that Weir has ended as failed for lack of progress, at once', async () => {
    const stubborn = await scriptedUpstream(loopingModel({ isStubborn: true }))
    try {
      const options = ['--upstream', stubborn.url, '--data-folder', 'log']
      const { address, child, ended } = await started([...options])
      await runOf('Messages')(address.anthropicBaseUrl, true)
      child.kill('SIGTERM')
      await ended
      const { out } = await commands.run(['conversations', '--data-folder', 'log', '--json'])
      expect(JSON.parse(out)).toMatchObject({ last: { outcome: 'failed', class: 'no_progress' } })
    } finally {
      await stubborn.close()
    }
  })

  it.each(
    sdkForms
      .filter(({ isStreamed }) => isStreamed)
      .flatMap((form) => [
        { ...form, mode: 'advice', flags: [] },
        { ...form, mode: 'veto', flags: ['--veto'] },
      ]),
  )(
    'that is killed in a stream gives the client an error, and no half call ($name, $mode)',
    async ({ open, isStreamed, flags }) => {
      const sent = Promise.withResolvers<void>()
      const upstream = await scriptedUpstream((received, response) => {
        begin(received, response)
        const spoken = { text: 'Looking.', calls: [{ id: 'c_1', args: '{"cmd":"rm -rf build"}' }] }
        const pieces = piecesOf(received, spoken)
        const at = pieces.findIndex((piece) => piece.includes('rm -rf'))
        response.write(pieces.slice(0, at).join(''))
        response.write((pieces[at] ?? '').replace(/rm -rf.*/s, ''), () => sent.resolve())
      })
      try {
        const { address, child, ended } = await started(['--upstream', upstream.url, ...flags])
        const chat = open(address.anthropicBaseUrl, { isStreamed })
        chat.say('Build it.')
        const answer = expect(chat.ask()).rejects.toThrow()
        await sent.promise
        child.kill('SIGKILL')
        await ended
        await answer
      } finally {
        await upstream.close()
      }
    },
  )

  it.each(sdkForms.filter(({ isStreamed }) => isStreamed))(
    'holds calls, also after it was killed ($name)',
    async ({ open, isStreamed }) => {
      const call = (args: string) => ({ calls: [{ id: 'c', args }] })
      const answers = [call('{}'), call('{"cmd":"ls"}'), call('{}'), call('{"cmd":"pwd"}')]
      const held = await scriptedUpstream(speaking(...answers, { text: 'Done.' }))
      const args = ['--upstream', held.url, '--veto', '--data-folder', 'held']
      try {
        const first = await started([...args])
        const headers = { 'x-weir-conversation': 'c1' }
        const before = open(first.address.anthropicBaseUrl, { isStreamed, headers })
        before.say('List the files.')
        expect((await before.ask()).calls).toEqual([{ id: 'c', args: { cmd: 'ls' } }])
        first.child.kill('SIGKILL')
        await first.ended
        const again = await started([...args, '--port', `${first.address.port}`])
        before.results('a.txt')
        expect((await before.ask()).calls).toEqual([{ id: 'c', args: { cmd: 'pwd' } }])
        before.results('/')
        expect((await before.ask()).text).toBe('Done.')
        again.child.kill('SIGTERM')
        expect((await again.ended).code).toBe(0)
        const { out } = await commands.run(['inspect', 'guest:guest:c1', '--data-folder', 'held'])
        expect(out.match(/^ *Round \d+/gm)).toHaveLength(5)
      } finally {
        await held.close()
      }
    },
  )

  it.each([
    [['--upstream', 'http://h', '--veto-oauth'], '--veto-oauth needs --veto'],
    [['--upstream', 'api.example'], '--upstream is "api.example"; it must be a URL'],
    [['--upstream', 'http://u:p@h'], 'it must not contain a name or password'],
    [['--upstream', 'http://h', '--agent', '../x'], 'the name of the guest is "../x"'],
    [[], "required option '--upstream <url>' not specified"],
  ])('refuses %j with exit code 2', async (args, text) => {
    const { code, errors } = await commands.run(['proxy', '--port', '0', ...args])
    expect(errors).toContain(text)
    expect(errors).not.toContain('u:p')
    expect(code).toBe(2)
  })
})
