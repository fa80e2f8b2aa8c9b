// A process is killed in the middle of a turn and started again. Every turn ends, every call has one
// result, and no tool that may not be repeated starts twice. The tools' own records prove it.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import {
  type AnthropicServer,
  type Reply,
  startAnthropicServer,
} from '../../apps/demo/anthropic-server.ts'
import type { ModelCall } from '../../client/testing/anthropic-stream.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import { decode } from '../../shared/codec/codec.ts'
import type { HistoryEntry, TurnFinished } from '../../shared/contract/messages.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { until } from '../support/inbox.ts'
import { compiledPrograms, weirProcess } from '../support/programs.ts'
import { call, says, text } from '../support/script.ts'
import type { WeirProcessOptions } from '../support/weir-process.ts'

// The model decides by the history, so a repeated request gets the same answer. It makes a call that
// may not be repeated, then two calls of which one may, then the reply.
function model({ messages }: ModelCall): Reply {
  const rounds = messages.filter(({ role }) => role === 'assistant').length % 3
  if (rounds === 0) return says(call('note', { n: `${messages.length}` }))
  if (rounds === 1)
    return says(
      call('note', { n: `${messages.length}` }),
      call('repeatable', { n: `${messages.length}`, sleepMs: 30 }),
    )
  return says(text('All noted.'))
}

const messages = [
  { conversation: 'a', messageId: 'a1' },
  { conversation: 'b', messageId: 'b1' },
  { conversation: 'a', messageId: 'a2' },
]

type Start = { name: string; key: string }
type Seen = {
  finished: TurnFinished[]
  history: HistoryEntry[]
  starts: Start[]
  server: AnthropicServer
  kills: number
}

/**
 * Runs Weir to the end and kills it as `kill` demands: `dieAt` by itself at a step, and from outside
 * `whileToolRuns` when the first tool has started. `afterEvents` kills one process after another, each
 * after so many requests and starts of tools.
 */
async function runKilled(
  kill: { dieAt?: number; afterEvents?: number[]; whileToolRuns?: true },
  play = model,
): Promise<Seen> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-kill-'))
  const server = await startAnthropicServer(play)
  try {
    const options = {
      file: join(folder, 'weir.db'),
      url: server.url,
      startsFile: join(folder, 'starts'),
      messages,
      // The next process has this time and more to report the tool's result.
      ...(kill.whileToolRuns && { startWithinMs: 60_000 }),
    }
    let kills = 0
    if (kill.dieAt !== undefined)
      kills += (await runProcess({ ...options, dieAt: kill.dieAt })) === 'killed' ? 1 : 0
    const toolStarts = () =>
      existsSync(options.startsFile) ? linesOf(options.startsFile).length : 0
    const events = () => server.requests.length + toolStarts()
    for (const more of kill.afterEvents ?? []) {
      const enough = events() + more
      const isEnough = () => events() >= enough
      kills += (await runProcess({ ...options, dieAt: 0 }, isEnough)) === 'killed' ? 1 : 0
    }
    if (kill.whileToolRuns) {
      const hasStarted = () => toolStarts() > 0
      kills += (await runProcess({ ...options, dieAt: 0 }, hasStarted)) === 'killed' ? 1 : 0
    }
    expect(await runProcess({ ...options, dieAt: 0 })).toBe('done')
    const bus = await openEmbeddedBus({ file: options.file, clock: systemClock, readOnly: true })
    const finished = new Map<string, TurnFinished>()
    const history = new Map<string, HistoryEntry>()
    for (const partition of [0, 1]) {
      for (const record of await bus.read({
        topic: 'weir.activity',
        partition,
        from: 0,
        limit: 100_000,
      })) {
        const message = decode(record.value as Uint8Array)
        if (message.type === 'turn-finished') finished.set(record.id as string, message)
      }
      for (const record of await bus.list({ topic: 'weir.history', partition, prefix: '' }))
        history.set(record.key, decode(record.value as Uint8Array) as HistoryEntry)
    }
    await bus.close()
    const starts = linesOf(options.startsFile).map((line) => JSON.parse(line) as Start)
    return {
      finished: [...finished.values()],
      history: [...history.values()],
      starts,
      server,
      kills,
    }
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').trim().split('\n')
}

function runProcess(
  options: WeirProcessOptions,
  killWhen?: () => boolean,
): Promise<'done' | 'killed'> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', weirProcess, JSON.stringify(options)],
    {
      env: { ...process.env, ...compiledPrograms },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let stderr = ''
  child.stderr.on('data', (data) => {
    stderr += data
  })
  const kill = () => child.kill('SIGKILL')
  let hasEnded = false
  if (killWhen !== undefined) void until(async () => hasEnded || killWhen()).then(kill)
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      hasEnded = true
      if (signal === 'SIGKILL') resolve('killed')
      else if (code === 0) resolve('done')
      else reject(new Error(`weir-process exited with ${code}: ${stderr}`))
    })
  })
}

function expectAllIsWell({ finished, history, starts, server }: Seen): void {
  expect(
    finished
      .map(({ messageId, outcome }) => ({ messageId, outcome }))
      .sort((a, b) => a.messageId.localeCompare(b.messageId)),
  ).toEqual(
    [...messages]
      .sort((a, b) => a.messageId.localeCompare(b.messageId))
      .map(({ messageId }) => ({ messageId, outcome: 'answered' })),
  )
  for (const { response, results } of history)
    expect(results.map(({ ordinal }) => ordinal)).toEqual(
      (response?.calls ?? []).map(({ ordinal }) => ordinal),
    )
  const once = starts.filter(({ name }) => name === 'note').map(({ key }) => key)
  expect(new Set(once).size).toBe(once.length)
  const noted = history.flatMap(({ response, results }) =>
    results.filter((_, i) => response?.calls[i]?.name === 'note'),
  )
  expect(noted.filter(({ status }) => status === 'ok').length).toBeLessThanOrEqual(once.length)
  expect(once.length).toBeLessThanOrEqual(
    noted.filter(({ status }) => status === 'ok' || status === 'unknown').length,
  )
  for (const request of server.requests) expectPaired(request)
}

/** Every call has exactly one result, in the message after it. */
function expectPaired({ messages }: ModelCall): void {
  const idsOf = (message: ModelCall['messages'][number] | undefined, type: string, id: string) =>
    (Array.isArray(message?.content) ? message.content : [])
      .filter((block) => block.type === type)
      .map((block) => block[id] as string)
  for (const [i, message] of messages.entries()) {
    if (message.role !== 'assistant') continue
    expect(idsOf(messages[i + 1], 'tool_result', 'tool_use_id')).toEqual(
      idsOf(message, 'tool_use', 'id'),
    )
  }
}

describe('a killed process', () => {
  // All steps would take minutes. These are spread over three whole turns, and the simulation tries
  // the rest.
  const steps = Array.from({ length: 14 }, (_, i) => 3 + i * 15)

  it.each(steps)('loses and repeats nothing when it dies at step %d', async (dieAt) => {
    const seen = await runKilled({ dieAt })
    expect(seen.kills).toBe(1)
    expectAllIsWell(seen)
  })

  it('loses and repeats nothing when it is killed five times from outside', async () => {
    const seen = await runKilled({ afterEvents: [1, 2, 1, 3, 2] })
    expect(seen.kills).toBeGreaterThan(0)
    expectAllIsWell(seen)
  })

  it('gets the real result of a tool that ran when it was killed', async () => {
    const seen = await runKilled({ whileToolRuns: true }, ({ messages }) =>
      messages.filter(({ role }) => role === 'assistant').length % 2 === 0
        ? says(call('note', { n: '1', sleepMs: 1_000, answer: 'noted after all' }))
        : says(text('All noted.')),
    )
    expect(seen.kills).toBe(1)
    const results = seen.history.flatMap((entry) => entry.results)
    expect(results).toHaveLength(messages.length)
    for (const result of results)
      expect(result).toMatchObject({ status: 'ok', text: 'noted after all' })
    expect(seen.starts).toHaveLength(messages.length)
  })
})
