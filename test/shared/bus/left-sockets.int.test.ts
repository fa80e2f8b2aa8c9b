import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { removeLeftSockets } from '../../../shared/bus/embedded/beside/left-sockets.ts'

let parent: string
let servers: Server[]

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'left-sockets-'))
  servers = []
})

afterEach(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  rmSync(parent, { recursive: true })
})

function folder(name: string, mode = 0o700): string {
  const path = join(parent, name)
  mkdirSync(path, { mode })
  return path
}

/** A socket of a process that was killed. */
async function leftSocket(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', script]), 'exit')
  expect(existsSync(path)).toBe(true)
}

async function listening(path: string): Promise<void> {
  const server = createServer()
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(path, resolve))
}

function sweep(youngMs = 0): Promise<void> {
  return removeLeftSockets({ folders: /^p-\w+$/, entry: 'proxy.sock', parent, youngMs })
}

it('removes the folder of a process that was killed', async () => {
  await leftSocket(join(folder('p-dead'), 'proxy.sock'))
  await sweep()
  expect(existsSync(join(parent, 'p-dead'))).toBe(false)
})

it('leaves the folder of a process that lives, also if it is old', async () => {
  await listening(join(folder('p-alive'), 'proxy.sock'))
  await sweep()
  expect(existsSync(join(parent, 'p-alive', 'proxy.sock'))).toBe(true)
})

it('leaves a young folder, because its process may be about to listen', async () => {
  await leftSocket(join(folder('p-young'), 'proxy.sock'))
  await sweep(3_600_000)
  expect(existsSync(join(parent, 'p-young'))).toBe(true)
})

it('leaves folders with another name, with other content, and open to others', async () => {
  await leftSocket(join(folder('other'), 'proxy.sock'))
  const full = folder('p-full')
  await leftSocket(join(full, 'proxy.sock'))
  writeFileSync(join(full, 'more'), '')
  folder('p-empty')
  await leftSocket(join(folder('p-open', 0o755), 'proxy.sock'))
  await sweep()
  for (const name of ['other', 'p-full', 'p-empty', 'p-open'])
    expect([name, existsSync(join(parent, name))]).toEqual([name, true])
})

it('removes a link to sockets, and not the sockets, when none of them has a listener', async () => {
  const owner = folder('owner')
  await leftSocket(join(owner, 'requests'))
  symlinkSync(owner, join(folder('l-dead'), 'o'))
  const links = {
    folders: /^l-\w+$/,
    entry: 'o',
    sockets: ['requests', 'links'],
    parent,
    youngMs: 0,
  }
  await removeLeftSockets(links)
  expect(existsSync(join(parent, 'l-dead'))).toBe(false)
  expect(existsSync(join(owner, 'requests'))).toBe(true)

  await listening(join(owner, 'links'))
  symlinkSync(owner, join(folder('l-used'), 'o'))
  await removeLeftSockets(links)
  expect(existsSync(join(parent, 'l-used', 'o'))).toBe(true)
})

/** Runs a program whose temporary files are below `parent`, in which this folder is old. */
async function runWithOld(name: string, module: string, code: string): Promise<void> {
  utimesSync(join(parent, name), 0, 0)
  const url = new URL(`../../../${module}`, import.meta.url).href
  const script = `const module = await import(${JSON.stringify(url)}); ${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, TMPDIR: parent },
    stdio: 'inherit',
  })
  expect(await once(child, 'exit')).toEqual([0, null])
}

it('happens when a process starts its first sandbox proxy', async () => {
  await leftSocket(join(folder('weir-proxy-a1B2c3'), 'proxy.sock'))
  const module = 'shared/tools/sandbox/sandbox-proxy.ts'
  await runWithOld('weir-proxy-a1B2c3', module, 'module.proxyOf([])')
  expect(readdirSync(parent)).toEqual([])
})

it('happens when the owner of a log needs a short name for its socket', async () => {
  symlinkSync(join(parent, 'gone'), join(folder('weir-a1B2c3'), 'o'))
  const deep = folder('d'.repeat(110))
  const code = `
    const { createServer } = await import('node:net')
    const server = createServer()
    const release = await module.listenAt(server, ${JSON.stringify(join(deep, 'requests'))})
    server.close(release)`
  await runWithOld('weir-a1B2c3', 'shared/bus/embedded/beside/socket-place.ts', code)
  expect(readdirSync(parent)).toEqual(['d'.repeat(110)])
})
