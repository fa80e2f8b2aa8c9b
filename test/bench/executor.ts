// The executor's rows. Records folded per second, for rounds of one call and of sixteen. The extra
// cost of a turn with a guard in the round's stamp, as a shadow or enforcing with an answer. The
// extra cost of each kind of tool over its bare mechanism. That is a spawn of the same program with
// the same three pipes, a fetch from the same server, or a message to a forked process and back.
// The last two run one after another on a warm connection and a warm process.
//
// Not measured: reading, decoding and writing the records, the two hops between claim and start,
// tools with real work, results of any size, and TLS. A machine that is busy with the tools
// themselves (server and child share it here). The program is `true`, so only its start costs time.
// Of a sandbox: the look at its memory each 0.1 s, a list of hosts, whose forwarder is a Node.js
// process, and many sandboxes at once.

import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { executor } from '../../services/executor/reducer.ts'
import type { Turn } from '../../services/executor/turn.ts'
import { defaultPolicy, policyOf } from '../../shared/agents/policy/policy.ts'
import type { SandboxSetting } from '../../shared/agents/sandbox.ts'
import type {
  Call,
  Claim,
  Declaration,
  GuardMode,
  GuardVerdict,
  Outcome,
  RoundCleared,
  TurnEnded,
} from '../../shared/contract/messages.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { sandboxBackend } from '../../shared/lib/sandbox/backend.ts'
import { startCommand } from '../../shared/tools/command/command.ts'
import { httpTools } from '../../shared/tools/http/http.ts'
import { moduleTools } from '../../shared/tools/module/module.ts'
import type { RunningTool } from '../../shared/tools/tool.ts'
import { callWith, declarationWith, resultWith, verdictWith } from '../support/messages.ts'
import type { Row } from './row.ts'

const laps = 30
const recordsInLap = 30_000
const turnsInLap = 5_000
const starts = 150
const warmCalls = 2_000

/** All rows of the executor. */
export async function benchExecutor(): Promise<Row[]> {
  const { bare, ours } = await timesOf({ bare: startBare, ours: startOurs, count: starts })
  const boxed = await sandboxRows()
  const post = await postTimes()
  const module = await moduleTimes()
  return [
    { name: 'a turn with one call: records', value: recordsPerSecond(1), unit: 'records/s' },
    { name: 'a turn with sixteen calls: records', value: recordsPerSecond(16), unit: 'records/s' },
    ...guardRows(),
    {
      name: 'command tool: start to result of `true`',
      value: ours,
      unit: 'ms',
      baseline: 'a bare spawn',
      ratio: ours / bare,
    },
    { name: 'bare spawn: start to end of `true`', value: bare, unit: 'ms' },
    ...boxed,
    {
      name: 'http tool: call to result',
      value: post.ours,
      unit: 'ms',
      baseline: 'a bare fetch',
      ratio: post.ours / post.bare,
    },
    { name: 'bare fetch: POST to the end of its answer', value: post.bare, unit: 'ms' },
    {
      name: 'module tool: call to result',
      value: module.ours,
      unit: 'ms',
      baseline: 'a bare message',
      ratio: module.ours / module.bare,
    },
    { name: 'bare message to a forked process and back', value: module.bare, unit: 'ms' },
  ]
}

type Recorded = RoundCleared | GuardVerdict | Claim | Outcome | TurnEnded

const mail: Declaration = declarationWith({ name: 'mail' })

/** `guard`: its mode in the round. Undefined: no guard. */
function recordsOf(calls: number, guard?: GuardMode): Recorded[] {
  const place = { conversation: 'c', turn: 1 }
  const all = Array.from({ length: calls }, (_, ordinal): Call => {
    return callWith({ ordinal, name: 'mail', raw: '{"to":"somebody"}' })
  })
  const stamped = {
    agent: 'agent',
    policy: guard === undefined ? defaultPolicy : guarded(guard),
    expiresAt: 1e9,
    declarations: [mail],
    decided: [],
  }
  const claims = all.map(
    ({ ordinal }): Claim => ({ type: 'claim', ...place, round: 1, ordinal, try: 1, owner: 'a' }),
  )
  const outcomes = claims.map(({ ordinal, ...claim }): Outcome => {
    return {
      ...claim,
      type: 'outcome',
      ordinal,
      result: resultWith({ ordinal, text: 'a short result' }),
      goesOn: false,
    }
  })
  return [
    { type: 'round-cleared', ...place, round: 1, calls: all, extendedTo: null, ...stamped },
    ...(guard === 'enforce' ? [passed(place, all)] : []),
    ...claims,
    ...outcomes,
    { type: 'turn-ended', ...place },
  ]
}

function guarded(mode: GuardMode): RoundCleared['policy'] {
  const { version: _, ...content } = defaultPolicy
  const guard = {
    name: 'guard',
    version: '1',
    tools: [{ pattern: '*', mode }],
    deadlineMs: 1_000,
    onTimeout: 'deny' as const,
    rules: null,
  }
  return policyOf({ ...content, guards: [guard] })
}

function passed(place: { conversation: string; turn: number }, calls: Call[]): GuardVerdict {
  const verdicts = calls.map(({ ordinal }) => verdictWith({ ordinal }))
  const timing = { clearedAt: 0, judgedMs: 0, enforces: [], deadlineMs: 1_000 }
  return {
    type: 'guard-verdict',
    ...place,
    round: 1,
    guard: 'guard',
    version: '1',
    verdicts,
    intervention: null,
    ...timing,
  }
}

/** The three run in turns, lap by lap. */
function guardRows(): Row[] {
  const cases = [undefined, 'shadow', 'enforce'] as const
  const times = cases.map((): number[] => [])
  const records = cases.map((guard) => recordsOf(1, guard))
  for (let lap = 0; lap < laps; lap += 1)
    for (const [i, turn] of records.entries()) {
      const begun = process.hrtime.bigint()
      for (let n = 0; n < turnsInLap; n += 1) fold(turn)
      times[i]?.push(Number(process.hrtime.bigint() - begun) / 1e3 / turnsInLap)
    }
  const [none = 0, shadow = 0, enforcing = 0] = times.map(median)
  const row = (guards: string, value: number): Row => ({
    name: `a turn with one call, ${guards}`,
    value,
    unit: 'µs',
    baseline: 'no guard',
    ratio: value / none,
  })
  return [
    { name: 'a turn with one call, no guard', value: none, unit: 'µs' },
    row('one guard as a shadow', shadow),
    row('one guard that enforces and answers', enforcing),
  ]
}

/** Folds as the runtime does: finds the unit for each record, then calls `wants` and `due`. */
function recordsPerSecond(calls: number): number {
  const records = recordsOf(calls)
  const turns = Math.ceil(recordsInLap / records.length)
  const times = Array.from({ length: laps }, () => {
    const begun = process.hrtime.bigint()
    for (let turn = 0; turn < turns; turn += 1) fold(records)
    return Number(process.hrtime.bigint() - begun)
  })
  return (turns * records.length * 1e9) / median(times)
}

function fold(records: Recorded[]): void {
  const units = new Map<string, Turn>()
  let tasks = 0
  for (const [offset, message] of records.entries()) {
    const unit = executor.unit(message)
    const { state } = executor.react(units.get(unit), {
      message,
      offset,
      previous: undefined,
      time: offset,
    })
    if (state === undefined) units.delete(unit)
    else units.set(unit, state)
    if (state !== undefined)
      tasks += executor.wants(state).length + Math.sign(executor.due(state) ?? 0)
  }
  if (tasks === 0) throw new Error('the bench folded nothing')
}

async function startBare(): Promise<void> {
  const child = spawn('true', [], { stdio: 'pipe' })
  child.stdin.on('error', () => {}) // EPIPE: `true` does not read
  child.stdin.end('{}')
  child.stdout.resume()
  child.stderr.resume()
  await once(child, 'close')
}

const call = {
  arguments: '{"n":1}',
  idempotencyKey: 'key',
  timeoutMs: 10_000,
  graceMs: 1_000,
  clock: systemClock,
}

function startOurs(): Promise<void> {
  return good(startCommand({ kind: 'command', argv: ['true'] }, call))
}

/** The two run in turns, so that a busy machine slows both. */
async function sandboxRows(): Promise<Row[]> {
  const found = sandboxBackend()
  const name = 'command tool in a sandbox: start to result of `true`'
  if ('missing' in found) return [{ name, value: 0, unit: 'ms', notMeasured: found.missing }]
  const cwd = mkdtempSync(join(tmpdir(), 'weir-bench-'))
  const start = (sandbox: SandboxSetting) => () =>
    good(startCommand({ kind: 'command', argv: ['true'], cwd, sandbox }, call))
  const { bare, ours } = await timesOf({
    bare: start('off'),
    ours: start('default'),
    count: starts,
  })
  rmdirSync(cwd)
  return [
    { name, value: ours, unit: 'ms', baseline: 'without', ratio: ours / bare },
    { name: 'what a sandbox adds', value: ours - bare, unit: 'ms' },
  ]
}

async function good({ ended }: RunningTool): Promise<void> {
  const { status, text } = await ended
  if (status !== 'ok') throw new Error(`the bench could not run its tool: ${text}`)
}

const counterpart = fileURLToPath(new URL('executor-counterpart.ts', import.meta.url))

async function postTimes(): Promise<Times> {
  const server = fork(counterpart, ['serve'])
  const [port] = await once(server, 'message')
  const url = `http://127.0.0.1:${port}/`
  const start = httpTools()
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'key' }
  const bare = async () => {
    const response = await fetch(url, { method: 'POST', body: call.arguments, headers })
    if (!response.ok || (await response.text()) === '') throw new Error('the bench got no answer')
  }
  const times = await timesOf({
    bare,
    ours: () => good(start({ kind: 'http', url, headers: {} }, call)),
    count: warmCalls,
  })
  server.kill()
  return times
}

async function moduleTimes(): Promise<Times> {
  const child = fork(counterpart, ['echo'])
  const { start, close } = moduleTools()
  const bare = async () => {
    child.send(call)
    await once(child, 'message')
  }
  const times = await timesOf({
    bare,
    ours: () => good(start({ kind: 'module', file: counterpart }, call)),
    count: warmCalls,
  })
  child.kill()
  close()
  return times
}

type Times = { bare: number; ours: number }

/**
 * Medians in milliseconds, after some to warm up. The two run in turns, so other work of the
 * machine affects both.
 */
async function timesOf({
  bare,
  ours,
  count,
}: {
  bare: () => Promise<void>
  ours: () => Promise<void>
  count: number
}): Promise<Times> {
  const times: { bare: number[]; ours: number[] } = { bare: [], ours: [] }
  const warmUp = Math.ceil(count / 15)
  for (let i = 0; i < count + warmUp; i += 1) {
    const [bareMs, oursMs] = [await msOf(bare), await msOf(ours)]
    if (i < warmUp) continue
    times.bare.push(bareMs)
    times.ours.push(oursMs)
  }
  return { bare: median(times.bare), ours: median(times.ours) }
}

async function msOf(start: () => Promise<void>): Promise<number> {
  const begun = process.hrtime.bigint()
  await start()
  return Number(process.hrtime.bigint() - begun) / 1e6
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0
}
