// `weir hooks start`, and the hook of a plug-in that calls it, in a real shell.

import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { codex } from '../../apps/http/hosts/codex.ts'
import { pluginEntries } from '../../apps/http/hosts/host.ts'
import { freePorts } from '../chaos/free-ports.ts'
import { weirCommand } from '../support/programs.ts'
import { says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
let url: string
const log = () => join(commands.folder, 'weir', 'hooks')
const environment = () => ({ XDG_STATE_HOME: commands.folder })

beforeEach(async () => {
  commands = await openCommandFolder(() => says(text('Done.')))
  const [port] = await freePorts(1)
  url = `http://127.0.0.1:${port}`
})

afterEach(async () => {
  for (const pid of servers()) process.kill(pid, 'SIGKILL')
  await commands.close()
})

/** The processes of `weir up` on the data folder of this test. */
function servers(): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')
      return words.includes('up') && words.includes(log()) ? [Number(name)] : []
    } catch {
      return [] // the process ended meanwhile
    }
  })
}

const start = () => commands.run(['hooks', 'start', '--url', url], { environment: environment() })

const onLinux = process.platform === 'linux' ? describe : describe.skip

onLinux('weir hooks start', () => {
  it('starts one server for two calls at once, and none while it answers', async () => {
    const both = await Promise.all([start(), start()])
    expect(both.map(({ code, errors }) => [code, errors])).toEqual([
      [0, ''],
      [0, ''],
    ])
    const [server] = servers()
    expect(servers()).toEqual([server])
    expect(await start()).toMatchObject({ code: 0, out: '' })
    expect(servers()).toEqual([server])
  })

  it('fails with the reason, and leaves no second server, if another port serves the folder', async () => {
    expect(await start()).toMatchObject({ code: 0 })
    const first = servers()
    const [port] = await freePorts(1)
    url = `http://127.0.0.1:${port}`
    expect(await start()).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/did not start: [^{]*open for writing in process \d+/),
    })
    expect(servers()).toEqual(first)
  })

  it('refuses an address at which another server answers, and one of another machine', async () => {
    const other = createServer((_, response) => response.end('{}'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    expect(await start()).toMatchObject({
      code: 1,
      errors: expect.stringContaining('another server answers'),
    })
    other.close()
    url = 'http://192.0.2.1:4141'
    expect(await start()).toMatchObject({
      code: 2,
      errors: expect.stringContaining('a server starts on this machine only'),
    })
    expect(servers()).toEqual([])
  })
})

const hasCurl = () => {
  try {
    execFileSync('curl', ['--version'])
    return process.platform === 'linux'
  } catch {
    return false
  }
}
const withCurl = hasCurl() ? describe : describe.skip

const event = {
  session_id: 's1',
  turn_id: 't1',
  hook_event_name: 'UserPromptSubmit',
  prompt: 'Hi.',
}

/** The plug-in's hook of a prompt. `weir`: the command that it finds. */
async function prompt(weir: string): Promise<{ code: number | null; errors: string }> {
  const [entry] = pluginEntries(codex, {
    front: url,
    weir,
    version: null,
    uninstall: 'codex plugin remove',
  })
  const { hooks = [] } = (entry?.group ?? {}) as { hooks?: { command: string }[] }
  const child = spawn('/bin/sh', ['-c', hooks[0]?.command ?? ''], {
    cwd: commands.folder,
    env: { ...process.env, ...environment() },
  })
  child.stdin.on('error', () => {}) // a command that fails at once reads nothing
  child.stdin.end(`${JSON.stringify(event)}\n`)
  const [errors, code] = await Promise.all([
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, errors }
}

withCurl("the plug-in's hook of a prompt", () => {
  it('starts Weir, and lets the prompt go on', async () => {
    const { code, errors } = await prompt(weirCommand)
    expect([code, errors]).toEqual([
      0,
      expect.stringContaining(`judges the calls of this host at ${url}`),
    ])
    expect(servers()).toHaveLength(1)
    expect(await prompt('false')).toEqual({ code: 0, errors: '' })
  })

  it('stops the prompt if Weir does not start', async () => {
    const { code, errors } = await prompt('echo no-weir; false')
    expect(code).toBe(2)
    expect(errors).toContain('Weir did not start, so this was stopped.')
  })
})
