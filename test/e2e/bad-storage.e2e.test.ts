// Turns on storage that fails: a disk that is full for a moment or for good, another process on the
// same file, other settings than before. No acknowledged record is lost, no tool runs twice, and the
// operator reads the remedy. The tests in test/shared/bus cover the storage that the bus itself
// refuses to open.

import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../apps/demo/anthropic-server.ts'
import { openEdge } from '../../client/edge/edge.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { type RunningStages, startStages } from '../../services/stages.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type { TurnFinished } from '../../shared/contract/messages.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { foldFrom } from '../../shared/runtime/log/position.ts'
import { replyOf } from '../support/asked-turn.ts'
import { until } from '../support/inbox.ts'
import { recordedTool, testAgent } from '../support/pipeline.ts'
import { compiledPrograms, weirProcess } from '../support/programs.ts'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { requestFault } from '../support/valid-request.ts'
import { waitMaxMs } from '../support/wait-limit.ts'
import type { WeirProcessOptions } from '../support/weir-process.ts'

/** Too long for the free space on the pages of the file. */
const long = Array.from({ length: 10_000 }, (_, n) => 10_000 + n).join(' ')
const partitions = 2

/** A running Weir. `fill` makes the disk full, `empty` frees it again. */
type Weir = {
  bus: Bus
  running: RunningStages
  agent: Agent
  log: string[]
  fill(): void
  empty(): void
}

let folder: string
let server: AnthropicServer | undefined
let weir: Weir | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-storage-'))
})

afterEach(async () => {
  await stop()
  await server?.close()
  server = undefined
  await rm(folder, { recursive: true })
})

async function start(model: (request: ModelCall, number: number) => Reply): Promise<Weir> {
  server ??= await startAnthropicServer(model)
  const tools = (file: string) => {
    const fields = { timeoutMs: 5_000 }
    const act = recordedTool({ name: 'act', schema: { type: 'object' }, fields }, file)
    return [{ ...act, run: { ...act.run, outputBytesMax: 65_536 } }]
  }
  const settings = { policy: { startWithinMs: 2_000, graceMs: 100 } }
  const agent = testAgent(server.url, { tools, settings }, join(folder, 'starts'))
  const log: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => log.push(line) })
  let limitPages = (_pages: number): void => {}
  const bus = await openEmbeddedBus({
    file: join(folder, 'weir.db'),
    clock: systemClock,
    keepFrom: foldFrom,
    log: logger,
    onDatabase: (database) => {
      limitPages = (pages) => database.exec(`PRAGMA max_page_count = ${pages}`)
    },
  })
  const running = await startStages({
    bus,
    agents: new Map([[agent.name, agent]]),
    topicPrefix: 'weir.',
    partitions,
    log: logger,
  })
  weir = { bus, running, agent, log, fill: () => limitPages(1), empty: () => limitPages(1_000_000) }
  return weir
}

async function stop(): Promise<void> {
  await weir?.running.close()
  await weir?.bus.close()
  weir = undefined
}

function ask({ bus, running, agent }: Weir, userText: string): Promise<TurnFinished> {
  const question = { agent, conversation: 'c', messageId: userText, text: userText }
  return Promise.race([
    replyOf(
      openEdge({ bus, topicPrefix: 'weir.', partitions }),
      question,
      AbortSignal.timeout(waitMaxMs),
    ),
    running.failed,
  ])
}

/** The file that a running tool waits for. */
const mayEnd = () => join(folder, 'may-end')

async function starts(): Promise<string[]> {
  const noted = await readFile(join(folder, 'starts'), 'utf8').catch(() => '')
  return noted.split('\n').filter((line) => line !== '')
}

/**
 * The next turn is a normal one with tools, and a provider would accept every request.
 */
async function expectGoesOn(running: Weir): Promise<void> {
  const before = (await starts()).length
  expect(await ask(running, 'and now?')).toMatchObject({ outcome: 'answered' })
  expect((await starts()).length).toBe(before + 1)
  expect(server?.requests.map(requestFault).filter((fault) => fault !== undefined)).toEqual([])
}

/**
 * Calls the tool for each message of the user, the first time with `input`. Answers when the result
 * is there.
 */
function acting(input: object): (request: ModelCall) => Reply {
  return ({ messages }) => {
    const blocks = messages.flatMap(({ content }) => content as { type: string; text?: string }[])
    const newest = blocks.at(-1)
    return newest?.type === 'tool_result'
      ? says(text('Done.'))
      : says(call('act', newest?.text === 'go' ? input : {}))
  }
}

describe('a disk that is full for a moment', () => {
  it('loses no result of a tool: the result is written when there is room again', async () => {
    const running = await start(acting({ until: mayEnd(), answer: long }))
    const turn = ask(running, 'go')
    await until(async () => (await starts()).length > 0)
    running.fill()
    await writeFile(mayEnd(), '')
    await until(async () =>
      running.log.some((line) => line.includes('writing the log failed; will retry')),
    )
    running.empty()
    expect(await turn).toMatchObject({ outcome: 'answered', totals: { rounds: 2, calls: 1 } })
    expect(resultsOf(server?.requests[1])).toEqual([long])
    expect(await starts()).toHaveLength(1)
    await expectGoesOn(running)
  })

  it('loses no answer of the model: the answer is written when there is room again', async () => {
    const running = await start(
      script(
        () => {
          running.fill()
          return says({ kind: 'text', text: long })
        },
        says(call('act', {})),
      ),
    )
    const turn = ask(running, 'go')
    await until(async () =>
      running.log.some((line) => line.includes('writing the log failed; will retry')),
    )
    running.empty()
    expect(await turn).toMatchObject({ outcome: 'answered', reply: long })
    expect(server?.requests).toHaveLength(1)
    await expectGoesOn(running)
  })

  it('rejects a message at once, and the client may send it again', async () => {
    const running = await start(script(says(call('act', {}))))
    running.fill()
    await expect(ask(running, long)).rejects.toMatchObject({ code: 'bus.full', retryable: true })
    running.empty()
    await expectGoesOn(running)
    expect(server?.requests).toHaveLength(2)
  })
})

describe('a disk that stays full', () => {
  it('stops Weir with the file and the remedy; with room again no finished tool runs again', async () => {
    const first = await start(acting({ until: mayEnd(), answer: long }))
    const turn = ask(first, 'go')
    await until(async () => (await starts()).length > 0)
    first.fill()
    await writeFile(mayEnd(), '')
    await expect(turn).rejects.toMatchObject({ code: 'bus.full' })
    await expect(turn).rejects.toThrow(
      `no space left to write ${join(folder, 'weir.db')}: free space on the disk of ${folder}`,
    )
    await stop()

    const second = await start(acting({}))
    expect(await ask(second, 'go')).toMatchObject({
      outcome: 'answered',
      totals: { rounds: 2, calls: 1 },
    })
    expect(resultsOf(server?.requests[1])).toEqual([
      expect.stringMatching(/may have run, or may still take effect/),
    ])
    expect(await starts()).toHaveLength(1)
    await expectGoesOn(second)
  })
})

describe('the file of a running Weir', () => {
  it('is refused to a second process, which names the first; the turn of the first goes on', async () => {
    const running = await start(acting({ until: mayEnd() }))
    const turn = ask(running, 'go')
    await until(async () => (await starts()).length > 0)
    const { code, stderr } = await second({
      messages: [{ conversation: 'c', messageId: 'intruder' }],
    })
    await writeFile(mayEnd(), '')
    expect(code).toBe(1)
    expect(stderr).toContain(
      `${join(folder, 'weir.db')} is open for writing in process ${process.pid}: stop that process first`,
    )
    expect(await turn).toMatchObject({ outcome: 'answered' })
    expect(await starts()).toHaveLength(1)
    await expectGoesOn(running)
  })

  it('is refused with another number of partitions, and accepted with the former number', async () => {
    const running = await start(acting({}))
    expect(await ask(running, 'go')).toMatchObject({ outcome: 'answered' })
    await stop()
    const bus = await openEmbeddedBus({ file: join(folder, 'weir.db'), clock: systemClock })
    const log = pino({ level: 'silent' })
    await expect(
      startStages({ bus, agents: new Map(), topicPrefix: 'weir.', partitions: 3, log }),
    ).rejects.toMatchObject({
      code: 'bus.topic-differs',
    })
    await bus.close()
    await expectGoesOn(await start(acting({})))
  })

  it('can be read while it runs, but no stage can be started on a reader', async () => {
    const running = await start(acting({}))
    expect(await ask(running, 'go')).toMatchObject({ outcome: 'answered' })
    const reader = await openEmbeddedBus({
      file: join(folder, 'weir.db'),
      clock: systemClock,
      readOnly: true,
    })
    const log = pino({ level: 'silent' })
    await expect(
      startStages({ bus: reader, agents: new Map(), topicPrefix: 'weir.', partitions, log }),
    ).rejects.toMatchObject({
      code: 'bus.unwritable',
    })
    await reader.close()
    await expectGoesOn(running)
  })

  function second(
    options: Pick<WeirProcessOptions, 'messages'>,
  ): Promise<{ code: number | null; stderr: string }> {
    const given: WeirProcessOptions = {
      file: join(folder, 'weir.db'),
      url: 'http://127.0.0.1:1',
      startsFile: join(folder, 'starts'),
      dieAt: 0,
      ...options,
    }
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', weirProcess, JSON.stringify(given)],
      {
        env: { ...process.env, ...compiledPrograms },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })))
  }
})
