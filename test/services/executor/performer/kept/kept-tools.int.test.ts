// Command tools that outlive their executor, with real processes: an executor is killed, and this
// process looks for the results as the next owner does.

import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  createKeptTools,
  type KeptTools,
  type Left,
} from '../../../../../services/executor/performer/kept/kept-tools.ts'
import {
  type ClaimId,
  claimName,
  readProcesses,
  writeProcesses,
  writeResult,
} from '../../../../../services/executor/performer/kept/result-files.ts'
import type { CommandTool } from '../../../../../shared/agents/agents.ts'
import { limits } from '../../../../../shared/contract/limits.ts'
import { systemClock } from '../../../../../shared/lib/clock.ts'
import { compiled } from '../../../../support/compiled.ts'
import { until } from '../../../../support/inbox.ts'
import type { KeptExecutorOptions } from '../../../../support/kept-executor.ts'
import { inSandboxes } from '../../../../support/sandboxes.ts'

const supportFile = (name: string) =>
  fileURLToPath(new URL(`../../../../support/${name}`, import.meta.url))
const onLinux = existsSync('/proc/self/environ') ? it : it.skip
const gatedTool = supportFile('tools/gated.mjs')
const claim: ClaimId = {
  conversation: 'c' as ClaimId['conversation'],
  turn: 7,
  round: 1,
  ordinal: 0,
  try: 1,
  owner: 'first owner',
}

let folder: string
let root: string
let kept: KeptTools
const executors: ChildProcess[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-kept-'))
  root = join(folder, 'weir.tools')
  kept = open()
})

afterEach(async () => {
  writeFileSync(join(folder, 'gate'), 'over')
  for (const child of executors.splice(0)) child.kill('SIGKILL')
  kept.close()
  await until(async () => keepers().every((pid) => !isAlive(pid)))
  rmSync(folder, { recursive: true })
})

function open(secrets: string[] = []): KeptTools {
  const log = pino({ level: 'silent' })
  return createKeptTools({ dataFolder: folder, secrets, log, clock: systemClock })
}

function gated(fields: Partial<CommandTool> = {}): CommandTool {
  const argv = [process.execPath, gatedTool, join(folder, 'starts'), join(folder, 'gate')]
  return { kind: 'command', argv: argv as CommandTool['argv'], ...fields }
}

type Executor = { line(start: string): Promise<string>; kill(): Promise<void> }

/** Starts an executor with one running tool. */
function executor(options: Partial<KeptExecutorOptions> = {}): Executor {
  const all: KeptExecutorOptions = {
    dataFolder: folder,
    claim,
    run: gated(),
    secrets: [],
    timeoutMs: 60_000,
    ...options,
  }
  const script = supportFile('kept-executor.ts')
  const flags = ['--disable-warning=ExperimentalWarning', script, JSON.stringify(all)]
  const child = spawn(process.execPath, flags, {
    env: { ...process.env, ...compiled },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  executors.push(child)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  let output = ''
  child.stdout.on('data', (data) => {
    output += data
  })
  const lineOf = (start: string) => output.split('\n').find((line) => line.startsWith(start))
  return {
    async line(start) {
      await until(async () => lineOf(start) !== undefined)
      return lineOf(start) ?? ''
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function runningTool(options: Partial<KeptExecutorOptions> = {}): Promise<Executor> {
  const started = executor(options)
  await started.line('started true')
  await until(async () => existsSync(join(folder, 'starts')))
  return started
}

function find(of: ClaimId = claim, isDead = false): Left {
  return kept.find(of, isDead)
}

async function endOf(of: ClaimId = claim): Promise<Extract<Left, { state: 'ended' }>> {
  await until(async () => find(of).state === 'ended')
  return find(of) as Extract<Left, { state: 'ended' }>
}

function release(text: string): void {
  writeFileSync(join(folder, 'gate.new'), text)
  renameSync(join(folder, 'gate.new'), join(folder, 'gate'))
}

function keepers(): number[] {
  if (!existsSync(root) || !lstatSync(root).isDirectory()) return []
  return readdirSync(root).flatMap((name) => readProcesses(join(root, name))?.keeper.pid ?? [])
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function onlyFolder(): string {
  return join(root, readdirSync(root)[0] ?? '')
}

describe('a command tool whose executor is killed', () => {
  it('runs on, and the next owner gets its result when it ends', async () => {
    const first = await runningTool()
    await first.kill()
    expect(find().state).toBe('running')
    release('the work is done')
    const left = await endOf()
    expect(left.result).toMatchObject({
      ending: { status: 'ok', text: 'the work is done', reason: '' },
    })
    expect(left.result.durationMs).toBeGreaterThan(0)
    expect(readFileSync(join(folder, 'starts'), 'utf8').trim().split('\n')).toHaveLength(1)
  })

  it('gives its exit code to the next owner when it fails', async () => {
    const first = await runningTool()
    await first.kill()
    release('fail')
    expect((await endOf()).result.ending).toMatchObject({
      status: 'error',
      reason: 'fail',
      text: 'The tool failed with exit code 3.\nIts output:\nfail',
    })
  })

  it('gives its result to the next owner also if it ended before its executor', async () => {
    release('just in time')
    const first = executor()
    expect(await first.line('ended')).toContain('just in time')
    expect(find().state).not.toBe('ended') // its executor lives and reports it
    await first.kill()
    expect((await endOf()).result.ending).toMatchObject({ status: 'ok', text: 'just in time' })
  })

  it('is stopped at its timeout, although its executor is dead', async () => {
    const first = await runningTool({ timeoutMs: 2_000 })
    await first.kill()
    expect((await endOf()).result.ending).toMatchObject({
      status: 'timed_out',
      reason: 'timed out after 2000 ms',
    })
  })

  it('is stopped when the next owner needs its result no more', async () => {
    const first = await runningTool()
    await first.kill()
    const left = find()
    if (left.state === 'running') left.stop()
    expect((await endOf()).result.ending).toMatchObject({ status: 'ok', text: 'stopped' })
  })

  it('has no result any more when the process that holds it is killed too', async () => {
    const first = await runningTool()
    const [keeper = 0] = keepers()
    await first.kill()
    process.kill(keeper, 'SIGKILL')
    await until(async () => find().state === 'absent')
    release('nobody reads this')
  })

  it('leaves no process when it has ended', async () => {
    const first = await runningTool()
    const [keeper = 0] = keepers()
    await first.kill()
    release('done')
    await until(async () => !isAlive(keeper))
    expect((await endOf()).result.ending.text).toBe('done')
  })
})

describe('the claim of an executor that lives', () => {
  it('is not read, unless the bus proves that its owner is dead', async () => {
    await runningTool()
    release('done')
    const [inFolder = ''] = readdirSync(root)
    const result = join(root, inFolder, `${claimName(claim)}.result`)
    await until(async () => existsSync(result))
    expect(kept.find(claim, false).state).not.toBe('ended')
    expect(kept.find(claim, true).state).toBe('ended')
  })

  it('is not stopped by another executor', async () => {
    const first = await runningTool()
    const left = find()
    expect(left.state).toBe('running')
    if (left.state === 'running') left.stop()
    release('undisturbed')
    expect(await first.line('ended')).toContain('undisturbed')
  })
})

describe('the files of a result', () => {
  it('can be reached by their user only', async () => {
    const first = await runningTool()
    release('private')
    await first.line('ended')
    const inside = onlyFolder()
    expect(lstatSync(root).mode & 0o777).toBe(0o700)
    expect(lstatSync(inside).mode & 0o777).toBe(0o700)
    expect(readdirSync(inside).length).toBeGreaterThan(2)
    for (const name of readdirSync(inside))
      expect(lstatSync(join(inside, name)).mode & 0o777).toBe(0o600)
  })

  it('have no secret of an agent file', async () => {
    const first = await runningTool({ secrets: ['s3cret-value'] })
    await first.kill()
    release('the key is s3cret-value')
    expect((await endOf()).result.ending.text).toBe('the key is [secret]')
    const files = readdirSync(onlyFolder()).map((name) =>
      readFileSync(join(onlyFolder(), name), 'utf8'),
    )
    expect(files.join()).not.toContain('s3cret-value')
  })

  it('keep no more of the output than a living executor does', async () => {
    const first = await runningTool({ run: gated({ outputBytesMax: 100 }) })
    await first.kill()
    release('x'.repeat(100_000))
    expect((await endOf()).result.ending.text).toBe(
      `${'x'.repeat(100)}\n[cut: this is the beginning of 100000 bytes]`,
    )
  })

  it('are gone when the log has the outcome', async () => {
    const first = await runningTool()
    await first.kill()
    release('done')
    const left = await endOf()
    await until(async () => keepers().every((pid) => !isAlive(pid)))
    left.remove()
    expect(find().state).toBe('absent')
    expect(readdirSync(root)).toEqual([])
  })

  it('are removed at the next start when they are older than any claim', () => {
    const old = deadFolder()
    writeResult(old, claim, ok)
    const long = (Date.now() - limits.keptResultMs) / 1_000 - 60
    utimesSync(old, long, long)
    open().close()
    expect(readdirSync(root)).toEqual([])
  })

  it('stay at the next start while a claim may need them', () => {
    writeResult(deadFolder(), claim, ok)
    open().close()
    expect(find()).toMatchObject({ state: 'ended', result: ok })
  })
})

const ok = { ending: { status: 'ok' as const, text: 'forged', reason: '' }, durationMs: 1 }

/** The folder of an executor that ended long ago. */
function deadFolder(): string {
  const first = join(root, 'dead')
  mkdirPrivate(root)
  mkdirPrivate(first)
  const gone = { pid: 2 ** 30, startedAt: '1' } // beyond all process ids
  writeProcesses(first, { executor: gone, keeper: gone })
  return first
}

describe('a result that another program made', () => {
  it('does not count for another try, owner or call than it states', () => {
    const dead = deadFolder()
    writeResult(dead, claim, ok)
    expect(find().state).toBe('ended')
    for (const other of [{ try: 2 }, { owner: 'second owner' }, { ordinal: 1 }, { turn: 8 }]) {
      const of = { ...claim, ...other }
      expect(find(of).state).toBe('absent')
      const copied = readFileSync(join(dead, `${claimName(claim)}.result`))
      writeFileSync(join(dead, `${claimName(of)}.result`), copied, { mode: 0o600 })
      expect(find(of).state).toBe('absent')
    }
  })

  it.each([
    ['a symbolic link', (file: string, moved: string) => symlinkSync(moved, file)],
    ['a second name of a file', (file: string, moved: string) => linkSync(moved, file)],
    [
      'readable by others',
      (file: string, moved: string) => {
        writeFileSync(file, readFileSync(moved))
        chmodSync(file, 0o644)
      },
    ],
    [
      'too large',
      (file: string, moved: string) =>
        writeFileSync(file, readFileSync(moved) + ' '.repeat(limits.keptResultBytesMax), {
          mode: 0o600,
        }),
    ],
    [
      'cut short',
      (file: string, moved: string) =>
        writeFileSync(file, readFileSync(moved).subarray(0, -2), { mode: 0o600 }),
    ],
  ])('does not count if it is %s', (_title, make) => {
    const dead = deadFolder()
    writeResult(dead, claim, ok)
    const file = join(dead, `${claimName(claim)}.result`)
    renameSync(file, join(folder, 'moved'))
    make(file, join(folder, 'moved'))
    expect(find().state).toBe('absent')
  })

  it.each([
    { status: 'denied', text: '', reason: '' },
    { status: 'ok', text: 1, reason: '' },
    { status: 'ok', text: '' },
  ])('does not count with the ending %j', (ending) => {
    writeResult(deadFolder(), claim, { ending: ending as typeof ok.ending, durationMs: 1 })
    expect(find().state).toBe('absent')
  })

  it('does not count in a folder that others can enter, or after a link', () => {
    const dead = deadFolder()
    writeResult(dead, claim, ok)
    chmodSync(dead, 0o755)
    expect(find().state).toBe('absent')
    chmodSync(dead, 0o700)
    expect(find().state).toBe('ended')
    renameSync(dead, join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), dead)
    expect(find().state).toBe('absent')
  })
})

describe('a living executor', () => {
  const call = {
    arguments: '{}',
    idempotencyKey: 'key',
    timeoutMs: 60_000,
    graceMs: 5_000,
    clock: systemClock,
  }

  it('gets an unknown outcome when the process that holds its tools is killed, and can start more', async () => {
    const tool = kept.start(gated(), call, { claim, leftMs: 60_000 })
    expect(await tool.started).toBe(true)
    for (const pid of keepers()) process.kill(pid, 'SIGKILL')
    expect(await tool.ended).toMatchObject({
      status: 'unknown',
      reason: 'stopped: the process that held it ended',
    })
    release('again')
    const next = kept.start(gated(), call, { claim: { ...claim, ordinal: 1 }, leftMs: 60_000 })
    expect(await next.ended).toMatchObject({ status: 'ok', text: 'again' })
  })

  it('can start the process that holds its tools before the first call, which then uses that process', async () => {
    kept.begin()
    const started = keepers()
    expect(started.map(isAlive)).toEqual([true])
    release('done')
    const tool = kept.start(gated(), call, { claim, leftMs: 60_000 })
    expect(await tool.ended).toMatchObject({ status: 'ok', text: 'done' })
    expect(keepers()).toEqual(started)
  })

  it('gives a claim back whose time passed before the start', async () => {
    const tool = kept.start(gated(), call, { claim, leftMs: 0 })
    expect(await tool.ended).toMatchObject({ isGivenBack: true })
    expect(await tool.started).toBe(false)
    expect(existsSync(join(folder, 'starts'))).toBe(false)
  })

  onLinux(
    'shows the process that holds its tools no variable but the folder of compiled code',
    async () => {
      process.env.OF_THE_EXECUTOR = 'must not show'
      const first = await runningTool()
      const [pid] = keepers()
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      expect(variables.filter((line) => !/^(NODE_CHANNEL_.*)?$/.test(line))).toEqual([
        `NODE_COMPILE_CACHE=${compiled.NODE_COMPILE_CACHE}`,
      ])
      await first.kill()
    },
  )

  it('runs its tools without a file when its data folder cannot be used', async () => {
    writeFileSync(root, 'a file is in the way')
    release('still works')
    const tool = kept.start(gated(), call, { claim, leftMs: 60_000 })
    expect(await tool.ended).toMatchObject({ status: 'ok', text: 'still works' })
  })

  it('leaves no file of a call whose outcome the log has', async () => {
    release('done')
    await kept.start(gated(), call, { claim, leftMs: 60_000 }).ended
    kept.forget(claim)
    expect(readdirSync(onlyFolder())).toEqual(['processes'])
    kept.close()
    expect(readdirSync(root)).toEqual([])
  })
})

inSandboxes('a tool in a sandbox', () => {
  const inSandbox = (script: string): CommandTool => ({
    kind: 'command',
    argv: ['/bin/sh', '-c', script],
    cwd: join(folder, 'files'),
    sandbox: { read: [folder] },
  })

  it('outlives its executor, and cannot reach the folder of the results', async () => {
    mkdirPrivate(join(folder, 'files'))
    const wait = `touch ready; while [ ! -e ../gate ]; do sleep 0.1; done`
    const first = executor({ run: inSandbox(`${wait}; ls ${root} 2>&1; echo seen`) })
    await until(async () => existsSync(join(folder, 'files', 'ready')))
    await first.kill()
    expect(find().state).toBe('running')
    release('go')
    expect((await endOf()).result.ending).toMatchObject({ status: 'ok', text: 'seen\n' })
  })
})

function mkdirPrivate(path: string): void {
  if (!existsSync(path)) mkdirSync(path, { mode: 0o700 })
}
