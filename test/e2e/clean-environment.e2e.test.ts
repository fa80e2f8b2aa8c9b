// The environment of every command of the list, as another process of the same user reads it. A command
// that starts a program must not show a key there: the program could read it.

import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { commandGroups } from '../../apps/cli/command-list.ts'
import { createProgram } from '../../apps/cli/program.ts'
import { until } from '../support/inbox.ts'
import { says, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder, type RunningWeir } from '../support/weir-command.ts'

const canary = 'CANARY-1'
const secrets = { LAB_KEY: canary, OTHER: canary, WEIR_API_TOKEN: canary }
const onLinux = existsSync('/proc/self/environ') ? describe : describe.skip

/** The commands that run until a signal, with arguments that need no broker. */
const services: Record<string, string[]> = {
  'demo-model': ['demo-model', '--port', '0'],
  proxy: ['proxy', '--upstream', 'http://127.0.0.1:9', '--port', '0'],
  up: ['up', '--agents', 'agent.yaml', '--http-port', '0', '--health-port', '0'],
  serve: ['serve', '--agents', 'agent.yaml', '--http-port', '0', '--json'],
}

let commands: CommandFolder

beforeAll(async () => {
  commands = await openCommandFolder(() => says(text('Done.')))
  await mkdir(join(commands.folder, 'seen'))
  // Runs at the end of each process of Node. A process that starts itself again has no end.
  await writeFile(
    join(commands.folder, 'at-exit.mjs'),
    `import { readFileSync, writeFileSync } from 'node:fs'
    process.on('exit', () => writeFileSync(process.env.WEIR_SEEN, readFileSync('/proc/self/environ')))`,
  )
  await writeFile(
    join(commands.folder, 'keys.sh'),
    `env > seen/keys; echo '{"version":1,"tenants":{}}'`,
  )
  await writeFile(
    join(commands.folder, 'server.sh'),
    'env > seen/server; cat /proc/$PPID/environ > seen/gateway; exec sleep 60',
  )
})

afterAll(() => commands?.close())

/**
 * The words of each command. The entry cleans before it loads the program, and looks at a second word only
 * after `guard`, so the commands below `guard` stand for all others.
 */
async function allCommands(): Promise<string[][]> {
  const names = commandGroups().flatMap(({ items }) => items.map(([name]) => name))
  const { commands: all } = await createProgram(['guard'])
  const below = all.find((one) => one.name() === 'guard')?.commands ?? []
  return [
    ...names.filter((name) => !name.startsWith('help')).map((name) => [name]),
    ...below.filter((one) => one.name() !== 'help').map((one) => ['guard', one.name()]),
  ]
}

onLinux('the environment of a command, as any process of the same user reads it,', () => {
  it('has no key for any command of the list', async () => {
    const paths = await allCommands()
    expect(paths).toContainEqual(['guard', 'run'])
    expect(paths.length).toBeGreaterThan(40)
    const preload = `--import=${join(commands.folder, 'at-exit.mjs')}`
    const waiting = [...paths.entries()]
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [number, path] = next
        const seen = join(commands.folder, 'seen', `${number}`)
        const property = { WEIR_COMMAND_PROPERTY: `sasl=${canary}` }
        const environment = { ...secrets, ...property, NODE_OPTIONS: preload, WEIR_SEEN: seen }
        await commands.run([...path, '--help'], { environment })
      }
    }
    await Promise.all([worker(), worker()])
    const leaking = paths.filter((_, number) =>
      readFileSync(join(commands.folder, 'seen', `${number}`), 'utf8').includes(canary),
    )
    expect(leaking).toEqual([])
  }, 180_000)

  it('keeps a proxy, which Node reads while it starts, but for one with a password', async () => {
    const seen = join(commands.folder, 'seen', 'proxies')
    const plain = 'http://proxy.example:3128'
    const proxies = { HTTPS_PROXY: plain, HTTP_PROXY: `http://user:${canary}@proxy.example` }
    const preload = { NODE_OPTIONS: `--import=${join(commands.folder, 'at-exit.mjs')}` }
    const environment = { ...secrets, ...proxies, ...preload, WEIR_SEEN: seen }
    await commands.run(['conversations', '--help'], { environment })
    const environ = readFileSync(seen, 'utf8').split('\0')
    expect(environ).toContain(`HTTPS_PROXY=${plain}`)
    expect(environ.join()).not.toContain(canary)
  })

  it.each(Object.entries(services))('has no key while weir %s runs', async (_name, words) => {
    const running = commands.start(words, { environment: secrets })
    try {
      await firstOutput(running)
      const seen = environmentsBelow(running.child.pid ?? 0)
      expect([seen, running.child.exitCode]).toEqual([[], null])
    } finally {
      running.child.kill('SIGTERM')
      await running.ended
    }
  })

  it('gives the program that prints the keys of tenants no other key, and the login of its store', async () => {
    const keys = join(commands.folder, 'seen', 'keys')
    const words = ['proxy', '--upstream', 'http://127.0.0.1:9', '--port', '0']
    const running = commands.start(
      [...words, '--data-folder', 'encrypted', '--encryption-command', 'sh keys.sh'],
      { environment: { ...secrets, VAULT_TOKEN: 'login' } },
    )
    await firstOutput(running)
    running.child.kill('SIGTERM')
    await running.ended
    const seen = readFileSync(keys, 'utf8')
    expect(seen).toContain('VAULT_TOKEN=login')
    expect(seen).toContain('PATH=')
    expect(seen).not.toContain(canary)
  })

  it('gives no key to the server of weir mcp, in its own environment or in that of the gateway', async () => {
    const gateway = join(commands.folder, 'seen', 'gateway')
    const running = commands.start(['mcp', '--http-port', '0', '--', 'sh', 'server.sh'], {
      environment: secrets,
    })
    try {
      const seen = until(
        async () => existsSync(gateway) && readFileSync(gateway, 'utf8').includes('HOME='),
      )
      const early = running.ended.then(({ errors }) => Promise.reject(new Error(errors)))
      await Promise.race([seen, early])
      const server = readFileSync(join(commands.folder, 'seen', 'server'), 'utf8')
      expect([server, readFileSync(gateway, 'utf8')].join()).not.toContain(canary)
    } finally {
      running.child.kill('SIGTERM')
      await running.ended
    }
  })
})

/** A process prints only after it has started again. */
async function firstOutput({ child, ended }: RunningWeir): Promise<void> {
  const outputs = [child.stdout, child.stderr].map((stream) => once(stream, 'data'))
  const early = ended.then(({ errors }) => Promise.reject(new Error(`it ended: ${errors}`)))
  await Promise.race([...outputs, early])
}

/** The lines with a key, in the environments of this process and of all that it started. */
function environmentsBelow(pid: number): string[] {
  if (!existsSync(`/proc/${pid}/environ`)) return [] // a program that it started has ended
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return [
    ...lines.filter((line) => line.includes(canary)),
    ...children.flatMap((child) => environmentsBelow(Number(child))),
  ]
}
