// A guard's file in a replay: a good one, and several that fail.

import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, jest } from '@jest/globals'
import { startGuardProcess } from '../../../apps/replay/guard/guard-process.ts'
import { until } from '../../support/inbox.ts'
import { inSandboxes } from '../../support/sandboxes.ts'
import { changedLog, rewritten } from './bundled-log.ts'
import { changesBy, guardFiles, pass, passing } from './judged-by-file.ts'

jest.setTimeout(120_000) // each test starts a process

const { folder, guardFile } = guardFiles()
/** Apart, so that no process of another test names this folder. */
const endless = guardFiles()
const foreign = mkdtempSync(join(tmpdir(), 'weir-foreign-'))
const elsewhere = join(foreign, 'else.mjs')
writeFileSync(elsewhere, '')
afterAll(() => rmSync(foreign, { recursive: true, force: true }))

/** Vetoes from the third round on. */
const third = `const seen = (state ?? 0) + 1
  const verdict = (ordinal: number) => (seen < 3 ? { ordinal, verdict: 'allow' } : { ordinal, verdict: 'deny', code: 'enough', text: 'Enough.', evidence: 'three' })
  return { state: seen, verdicts: round.calls.map(({ ordinal }: any) => verdict(ordinal)) }`

inSandboxes('a guard in a replay', () => {
  it('that passes all calls changes nothing', async () => {
    expect(await changesBy(guardFile(pass))).toEqual([])
  })

  it('is reported with its first veto and the calls that had succeeded, and keeps its state as in production', async () => {
    const [change] = await changesBy(guardFile(third))
    expect(change).toMatchObject({
      round: 3,
      was: null,
      is: { action: 'deny', rule: 'mine@1', reason: 'three' },
      roundsSaved: 4,
    })
    expect(change?.denied.map(({ round }) => round)).toEqual([3, 4, 5, 6])
  })

  it('counts as no change if an earlier version decided the same', async () => {
    const earlier = {
      name: 'mine',
      version: '0',
      tools: [],
      deadlineMs: 1000,
      onTimeout: 'deny' as const,
      rules: null,
    }
    const [change, ...others] = await changesBy(guardFile(third), (record, message) => {
      if (message.type === 'round-checked')
        return rewritten(record, { ...message, policy: { ...message.policy, guards: [earlier] } })
      if (message.type !== 'round-executed' || message.round !== 3) return record
      const results = message.results.map((result) => ({
        ...result,
        status: 'denied' as const,
        reason: 'vetoed by guard mine: enough',
        guard: 'mine',
      }))
      return rewritten(record, { ...message, results })
    })
    expect(change).toMatchObject({
      round: 4,
      was: null,
      is: { action: 'deny', rule: 'mine@1', calls: [0] },
    })
    expect(others).toEqual([])
  })

  it('judges only the named conversation', async () => {
    const file = guardFile(
      'if (round.conversation === "other") throw new Error("not that one"); return pass(state, round)',
      passing,
    )
    const mixed: Parameters<typeof changedLog>[1] = (record, message) =>
      message.type === 'round-cleared' && message.round === 2
        ? { ...rewritten(record, { ...message, conversation: 'other' }), key: 'other' }
        : record
    await expect(changesBy(file, mixed)).rejects.toThrow(/not that one/)
    expect(await changesBy(file, mixed, 'i3-no-termination')).toEqual([])
  })

  it.each([
    [
      'throws',
      'throw new Error("no idea")',
      /round 1 of the turn at offset 0 of conversation i3-no-termination: judge threw: no idea/,
    ],
    ['loops for ever', 'for (;;);', /round 1 of .*: judge took longer than 1000 ms/],
    [
      'answers nonsense',
      'return { verdicts: "none" }',
      /round 1 of .*: its verdicts are not an array/,
    ],
    [
      'ends its process',
      'if (round.round === 3) process.exit(3); return pass(state, round)',
      /its process ended while judging round 3 of the turn at offset 0 of conversation i3-no-termination \(exit code 3\)/,
    ],
  ])('that %s is refused with its file and the round', async (_, judge, words) => {
    const file = guardFile(judge, passing)
    const refused = changesBy(file)
    await expect(refused).rejects.toThrow(words)
    await expect(refused).rejects.toThrow(file)
  })

  it('whose process ended between two questions is refused', async () => {
    const judging = await startGuardProcess(
      guardFile(pass, 'setTimeout(() => process.exit(5), 500)'),
    )
    const { bus, topicPrefix, partitions } = await changedLog(
      'i3-no-termination',
      (record) => record,
    )
    const topic = `${topicPrefix}rounds-cleared`
    const all = Array.from({ length: partitions }, (_, partition) =>
      bus.read({ topic, partition, from: 0, limit: 1 }),
    )
    const [record] = (await Promise.all(all)).flat()
    const asked = async () => {
      for (let times = 0; times < 1_000; times += 1) {
        await judging.judge(0, record === undefined ? [] : [record])
        await setTimeout(50)
      }
    }
    await expect(asked()).rejects.toThrow(/its process ended while judging.* \(exit code 5\)/)
  })

  it('whose process sends an invalid answer is refused with the round', async () => {
    // It may change its own process. Only a message counts.
    const forging = `${passing}
const { flatMap } = Array.prototype
Array.prototype.flatMap = function (this: any[], take: any) {
  return this[0]?.topic === 'verdicts' ? [{ offset: 7, verdict: 'fine' }] : flatMap.call(this, take)
} as any`
    const file = guardFile('return pass(state, round)', forging)
    await expect(changesBy(file)).rejects.toThrow(
      /sent an invalid answer while judging round 1 of the turn at offset 0/,
    )
  })

  it.each([
    ['a line that is no JSON', `writeSync(3, 'x\\n')`],
    ['a control message of Node', `writeSync(3, '{"cmd":"NODE_HANDLE_ACK"}\\n')`],
    ['JSON of a thousand levels', `writeSync(3, '['.repeat(1_000) + '\\n')`],
    ['a line without an end', `for (;;) try { writeSync(3, 'x'.repeat(65_536)) } catch {}`],
  ])(
    'that writes %s on the pipe to the replay is refused, and the replay goes on',
    async (_, statement) => {
      const file = guardFile(
        `${statement}; return pass(state, round)`,
        `${passing}\nimport { writeSync } from 'node:fs'`,
      )
      await expect(changesBy(file)).rejects.toThrow(/sent an invalid answer while judging/)
      expect(await changesBy(guardFile(pass))).toEqual([])
    },
  )

  it('has no environment, starts and signals nothing, writes no file, and reads none while it judges', async () => {
    const tried = [
      `['environment', () => { if (Object.keys(process.env).length === 0) throw new Error('none') }]`,
      `['file', () => fs.writeFileSync(${JSON.stringify(join(folder, 'out'))}, '')]`,
      `['foreign file', () => fs.readFileSync(${JSON.stringify(elsewhere)})]`,
      `['database', () => new (process.getBuiltinModule('node:sqlite').DatabaseSync)(${JSON.stringify(join(folder, 'out.db'))}).exec('create table t (c)')]`,
      `['process', () => spawnSync('true')]`,
      `['thread', () => new Worker('1', { eval: true })]`,
      `['signal', () => process.kill(${process.pid}, 0)]`,
      `['internal signal', () => { if (process._kill(${process.pid}, 0) !== 0) throw new Error('none') }]`,
      `['debugger of a process', () => process._debugProcess(${process.pid})]`,
      `['internal binding', () => process.binding('tcp_wrap')]`,
      `['linked binding', () => process._linkedBinding('tcp_wrap')]`,
      `['internal message', () => process._send({ kind: 'judged', number: 2, rounds: [] })]`,
      `['handles', () => { if (process._getActiveHandles().length === 0) throw new Error('none') }]`,
      `['message', () => process.send({ kind: 'judged', number: 2, rounds: [] })]`,
    ]
    const worldly = `import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { Worker } from 'node:worker_threads'
const tried: [string, () => unknown][] = [${tried.join(',')}]
const done = tried.filter(([, attempt]) => { try { attempt(); return true } catch { return false } }).map(([name]) => name)
`
    const judged = changesBy(guardFile('throw new Error("done: " + done + ".")', worldly))
    await expect(judged).rejects.toThrow(/judge threw: done: \./)
  })

  it('reaches no server of this machine and no name', async () => {
    const reached: string[] = []
    const server = createServer((socket) => {
      reached.push('stream')
      socket.destroy()
    })
    const datagrams = createSocket('udp4').on('message', () => reached.push('datagram'))
    server.listen(0, '127.0.0.1')
    datagrams.bind(0, '127.0.0.1')
    await Promise.all([once(server, 'listening'), once(datagrams, 'listening')])
    const { port } = server.address() as AddressInfo
    const worldly = `import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
const tried = await Promise.allSettled([
  async () => once(net.connect(${port}, '127.0.0.1'), 'connect'),
  async () => once(http.get('http://127.0.0.1:${port}'), 'response'),
  async () => fetch('http://127.0.0.1:${port}'),
  () => new Promise<void>((sent, failed) => createSocket('udp4').on('error', failed).send('x', ${datagrams.address().port}, '127.0.0.1', (error) => error ? failed(error) : sent())),
  async () => lookup('example.com'),
].map((attempt) => attempt()))
`
    const judge = 'throw new Error("tried: " + tried.map(({ status }) => status[0]) + ".")'
    const judged = changesBy(guardFile(judge, worldly))
    await expect(judged).rejects.toThrow(/judge threw: tried: r,r,r,[fr],r\./)
    expect(reached).toEqual([])
    server.close()
    datagrams.close()
  })

  it('gets an error with the readable folders if it reads anything else', async () => {
    const early = startGuardProcess(guardFile(pass, `import ${JSON.stringify(elsewhere)}`))
    await expect(early).rejects.toThrow(
      /cannot be loaded: .*else\.mjs.*\. A guard|cannot be loaded: it reads .*else\.mjs, which a guard/,
    )
    const late = guardFile(
      'readFileSync(import.meta.filename); return pass(state, round)',
      `import { readFileSync } from 'node:fs'\n${passing}`,
    )
    await expect(changesBy(late)).rejects.toThrow(
      /round 1 of .*: judge threw: it reads .*guard-\d+\.ts, which a guard in a replay must not/,
    )
  })

  it('loads linked packages from its node_modules, even if that folder is a link', async () => {
    const workspace = join(folder, 'workspace')
    const store = join(foreign, 'store')
    for (const name of ['lib', 'scoped', 'mine'])
      mkdirSync(join(workspace, 'packages', name), { recursive: true })
    mkdirSync(join(store, '@mine'), { recursive: true })
    mkdirSync(join(store, 'plain'))
    symlinkSync(store, join(workspace, 'node_modules'))
    symlinkSync(join(workspace, 'packages', 'lib'), join(store, 'lib'))
    symlinkSync(join(workspace, 'packages', 'scoped'), join(store, '@mine', 'scoped'))
    symlinkSync(join(foreign, 'gone'), join(store, 'gone'))
    const packages = [
      join(store, 'plain'),
      ...['lib', 'scoped', 'mine'].map((name) => join(workspace, 'packages', name)),
    ]
    for (const made of packages) {
      writeFileSync(join(made, 'package.json'), '{ "type": "module", "exports": "./index.js" }')
      writeFileSync(join(made, 'index.js'), 'export const word = 1')
    }
    const guard = join(workspace, 'packages', 'mine', 'guard.mjs')
    const imports = ['plain', 'lib', '@mine/scoped']
      .map((name) => `import ${JSON.stringify(name)}\n`)
      .join('')
    const judge = 'judge(state) { return { state, verdicts: [] } }'
    writeFileSync(
      guard,
      `${imports}export default { name: 'mine', version: '1', tools: ['*'], deadlineMs: 1000, onTimeout: 'deny', ${judge} }`,
    )
    const started = await startGuardProcess(guard)
    started.close()
    expect(started.guard.name).toBe('mine')
  })

  it.each([
    ['is none', 'export default 7', /default export must be a guard/],
    ['throws while it is loaded', 'throw new Error("not today")', /not today/],
    [
      'ends its process while it is loaded',
      'process.exit(4)',
      /its process ended while loading it \(exit code 4\)/,
    ],
    ['is not there', undefined, /there is no file/],
  ])('that %s is refused at loading', async (_, text, words) => {
    const file = join(folder, `bad-${text?.length ?? 0}.ts`)
    if (text !== undefined) writeFileSync(file, text)
    const refused = startGuardProcess(file)
    await expect(refused).rejects.toThrow(words)
    await expect(refused).rejects.toThrow(file)
  })

  it.each([
    ['loops', 'for (;;);'],
    ['waits', 'await new Promise(() => {})'],
  ])('that %s for ever at loading is stopped', async (_, before) => {
    const file = guardFile(pass, before)
    await expect(startGuardProcess(file, { loadMsMax: 500 })).rejects.toThrow(
      `${file}: loading it exceeded 0.5 s`,
    )
  })

  it('ends with the replay in any case, even while it loops', async () => {
    const replay = spawn(
      process.execPath,
      ['--input-type=module', '--eval', replaying, module, endless.guardFile(pass, 'for (;;);')],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    await once(replay.stdout, 'data')
    replay.kill('SIGKILL')
    await until(() => processesNaming(endless.folder).length === 0)
  })

  it('ends with a replay that ends right after its start', async () => {
    const replay = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `${atSpawn}${replaying}`,
        module,
        endless.guardFile(pass, 'for (;;);'),
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    await once(replay, 'exit')
    await until(() => processesNaming(endless.folder).length === 0)
  })
})

describe('a guard in a replay on a machine without bubblewrap', () => {
  it('is refused with the command that installs it', async () => {
    const found = { missing: 'bubblewrap is not installed; run: apk add bubblewrap' }
    await expect(startGuardProcess(guardFile(pass), { found })).rejects.toMatchObject({
      code: 'sandbox.unavailable',
      message: 'no sandbox can be made here: bubblewrap is not installed; run: apk add bubblewrap',
    })
  })
})

const module = fileURLToPath(
  new URL('../../../apps/replay/guard/guard-process.ts', import.meta.url),
)

/** Prints a byte as soon as the guard's process runs. */
const replaying = `
import { subscribe } from 'node:diagnostics_channel'
subscribe('child_process', ({ process: child }) => child.once('spawn', () => child.stdio[4]?.once('data', () => process.stdout.write('.'))))
const { startGuardProcess } = await import(process.argv[1])
await startGuardProcess(process.argv[2])
`

/** Ends the replay before bubblewrap has run. */
const atSpawn = `
import { subscribe as onSpawn } from 'node:diagnostics_channel'
onSpawn('child_process', ({ process: child }) =>
  child.once('spawn', () => child.spawnargs.includes('--permission') && setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1)))
`

/** Processes with the text in their command line, but for zombies, which have none. */
function processesNaming(text: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)
    } catch {
      return false
    }
  })
}
