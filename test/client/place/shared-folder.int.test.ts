// Processes that share a data folder: real processes, a real file, and kills of the owner.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../../client/testing/anthropic-stream.ts'
import { lockStateOf } from '../../../shared/bus/embedded/file/lock.ts'
import { logFileIn } from '../../../shared/bus/embedded/file/log-file.ts'
import { until } from '../../support/inbox.ts'
import { compiledPrograms, sharingProcess } from '../../support/programs.ts'
import { call, says, text } from '../../support/script.ts'
import type { SharingLine, SharingOptions, SharingQuestion } from '../../support/sharing-process.ts'

/** One call of the tool in each turn. The history alone decides. */
function model({ messages }: ModelCall): Reply {
  const last = JSON.stringify(messages.at(-1))
  return last.includes('tool_result')
    ? says(text('It is noted.'))
    : says(call('note', { n: `${messages.length}` }))
}

let folder: string
let server: AnthropicServer
let workers: Worker[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-sharing-'))
  server = await startAnthropicServer(model)
  workers = []
})
afterEach(async () => {
  for (const worker of workers) worker.kill()
  await Promise.all(workers.map(({ ended }) => ended))
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

type Worker = {
  process: ChildProcess
  ended: Promise<unknown>
  lines: SharingLine[]
  ask(question: SharingQuestion): void
  /** Waits for a line that fits. */
  line(fits: (line: SharingLine) => boolean): Promise<SharingLine>
  kill(): void
}

const startsFile = () => join(folder, 'starts')
const dataFolder = () => join(folder, 'data')

function start(options: Partial<SharingOptions> = {}): Worker {
  const all = { dataFolder: dataFolder(), url: server.url, startsFile: startsFile(), ...options }
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      sharingProcess,
      JSON.stringify(all satisfies SharingOptions),
    ],
    { env: { PATH: process.env.PATH, ...compiledPrograms } },
  )
  const lines: SharingLine[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line) as SharingLine))
  const worker: Worker = {
    process: child,
    ended: once(child, 'exit'),
    lines,
    ask: (question) => void child.stdin.write(`${JSON.stringify(question)}\n`),
    async line(fits) {
      await until(async () => lines.some(fits))
      return lines.find(fits) as SharingLine
    },
    kill: () => void child.kill('SIGKILL'),
  }
  workers.push(worker)
  return worker
}

async function started(options: Partial<SharingOptions> = {}): Promise<Worker> {
  const worker = start(options)
  await worker.line(({ type }) => type === 'open')
  return worker
}

const question = (id: string): SharingQuestion => ({
  text: 'go',
  conversation: `c-${id}`,
  messageId: id,
})
const endOf = (id: string) => (line: SharingLine) => 'messageId' in line && line.messageId === id

type Start = { key: string; n: string; user: string; pid: number }
const starts = (): Start[] =>
  existsSync(startsFile())
    ? readFileSync(startsFile(), 'utf8')
        .split('\n')
        .slice(0, -1) // the last line may still be written
        .map((line) => JSON.parse(line) as Start)
    : []

function ownerPid(): number | undefined {
  const state = lockStateOf(logFileIn(dataFolder()))
  return state.kind === 'held' ? state.pid : undefined
}

describe('processes that share a data folder', () => {
  it('run their turns in the owner, which gets the context of each question', async () => {
    const owner = await started()
    const beside = await started()
    owner.ask(question('1'))
    beside.ask(question('2'))
    expect(await owner.line(endOf('1'))).toMatchObject({ outcome: 'answered' })
    expect(await beside.line(endOf('2'))).toMatchObject({ reply: 'It is noted.' })
    expect(starts().map(({ user, pid }) => [user, pid])).toEqual(
      expect.arrayContaining([
        ['c-1', owner.process.pid],
        ['c-2', owner.process.pid],
      ]),
    )
  })

  it('continue a turn when the owner is killed, with the context of its question', async () => {
    const owner = await started({ toolMs: 100_000 })
    const beside = await started({ toolMs: 0 })
    beside.ask(question('1'))
    await until(async () => starts().length === 1)
    owner.kill()
    expect(await beside.line(endOf('1'))).toMatchObject({ outcome: 'answered' })
    expect(ownerPid()).toBe(beside.process.pid)
    expect(starts()).toHaveLength(1) // its outcome is unknown, so it does not start again
    beside.ask(question('2'))
    await beside.line(endOf('2'))
    expect(starts().at(-1)).toMatchObject({ user: 'c-2', pid: beside.process.pid })
  })

  it('hand the folder over when the owner ends in order', async () => {
    const owner = await started()
    const beside = await started()
    owner.process.stdin?.end()
    await owner.ended
    beside.ask(question('1'))
    expect(await beside.line(endOf('1'))).toMatchObject({ outcome: 'answered' })
  })

  it('lose no turn of four workers and start no call twice when the owner is killed under load', async () => {
    const all = [await started({ toolMs: 20 })]
    all.push(...(await Promise.all([1, 2, 3].map(() => started({ toolMs: 20 })))))
    const turns = 15
    const send = (worker: Worker, name: string) => {
      for (let n = 0; n < turns; n += 1) worker.ask(question(`${name}-${n}`))
    }
    const living = all.slice(1)
    for (const [name, worker] of living.entries()) send(worker, `${name}`)
    await until(async () => starts().length >= 10)
    all[0]?.kill()
    for (const [name, worker] of living.entries()) send(worker, `late-${name}`)
    for (const worker of living)
      await until(
        async () => worker.lines.filter((line) => 'messageId' in line).length === 2 * turns,
      )
    const ends = living.flatMap(({ lines }) => lines.filter((line) => 'messageId' in line))
    expect(ends.filter(({ type }) => type !== 'finished')).toEqual([])
    const keys = starts().map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(living.map(({ process }) => process.pid)).toContain(ownerPid())
  })
})

describe('the parts of processes in the stages', () => {
  it("with 'elsewhere' a process never owns the folder, and waits for the next owner", async () => {
    const owner = await started()
    const beside = await started({ stages: 'elsewhere' })
    owner.kill()
    await owner.ended
    beside.ask(question('1'))
    await sleep(300)
    expect(ownerPid()).toBeUndefined()
    expect(beside.lines).toHaveLength(1)
    const next = await started()
    expect(await beside.line(endOf('1'))).toMatchObject({ outcome: 'answered' })
    expect(ownerPid()).toBe(next.process.pid)
  })

  it("with 'elsewhere' and no owner, opening fails and names the remedy", async () => {
    const alone = start({ stages: 'elsewhere' })
    expect(await alone.line(({ type }) => type !== 'open')).toMatchObject({
      code: 'bus.unreachable',
      message: expect.stringContaining(
        `no process runs the stages of the data folder ${dataFolder()}: start one (weir up)`,
      ),
    })
  })

  it('a question about a tool that the owner defines otherwise fails and names the tool', async () => {
    const owner = await started()
    const beside = await started({ toolVersion: '2' })
    beside.ask(question('1'))
    expect(await beside.line(endOf('1'))).toMatchObject({
      code: 'agent.differs',
      message: expect.stringContaining(
        `process ${owner.process.pid}, which runs the agents of ${dataFolder()}, has another tool 'note' in its agent 'helper'`,
      ),
    })
    expect(server.requests).toHaveLength(0)
  })
})
