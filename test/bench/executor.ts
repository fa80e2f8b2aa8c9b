// How many records the executor folds in a second, for rounds of one call and of sixteen; what a
// turn costs it more where the round's stamp names a guard, one that watches and one that enforces
// and answers; and what each kind of tool adds to the bare thing that it is made of: a spawn of the
// same program with the same three pipes, a fetch from the same server, a message to a forked
// process and back. The last two one after another on a connection and a process that are warm.
//
// Not measured: reading, decoding and writing the records, the two hops between claim and start,
// tools that do something, results of any size, TLS, and a machine that is busy with the tools
// themselves (server and child share it with us here). The program is `true`, so the start is all
// there is.

import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { executor } from '../../services/executor/reducer.ts'
import { startCommand } from '../../services/executor/tools/command.ts'
import { httpTools } from '../../services/executor/tools/http.ts'
import { moduleTools } from '../../services/executor/tools/module.ts'
import type { RunningTool } from '../../services/executor/tools/tool.ts'
import type { Turn } from '../../services/executor/turn.ts'
import { defaultPolicy, policyOf } from '../../shared/agents/agents.ts'
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
import type { Row } from './row.ts'

const laps = 30
const recordsInLap = 30_000
const turnsInLap = 5_000
const starts = 150
const warmCalls = 2_000

/** All rows of the executor. */
export async function benchExecutor(): Promise<Row[]> {
  const { bare, ours } = await timesOf({ bare: startBare, ours: startOurs, count: starts })
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

const mail: Declaration = {
  name: 'mail',
  description: '',
  schema: '{}',
  idempotent: false,
  timeoutMs: 1_000,
  poll: false,
  hints: null,
}

/** `guard`: how one is in force in the round; undefined: there is none. */
function recordsOf(calls: number, guard?: GuardMode): Recorded[] {
  const place = { conversation: 'c', turn: 1 }
  const all = Array.from({ length: calls }, (_, ordinal): Call => {
    return {
      ordinal,
      id: 'id',
      name: 'mail',
      raw: '{"to":"somebody"}',
      source: 'deltas',
      problem: null,
      repair: null,
      disputed: false,
    }
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
      result: { ordinal, status: 'ok', text: 'a short result', reason: '', durationMs: 1 },
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
    onTimeout: 'reject' as const,
    rules: null,
  }
  return policyOf({ ...content, guards: [guard] })
}

function passed(place: { conversation: string; turn: number }, calls: Call[]): GuardVerdict {
  const verdicts = calls.map(({ ordinal }) => ({
    ordinal,
    verdict: 'pass' as const,
    code: '',
    text: '',
    evidence: null,
  }))
  const said = { clearedAt: 0, judgedMs: 0, enforces: [], deadlineMs: 1_000 }
  return {
    type: 'guard-verdict',
    ...place,
    round: 1,
    guard: 'guard',
    version: '1',
    verdicts,
    intervention: null,
    ...said,
  }
}

/** The three take turns, lap by lap. */
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
  const row = (what: string, value: number): Row => ({
    ...{
      name: `a turn with one call, ${what}`,
      value,
      unit: 'µs',
      baseline: 'no guard',
      ratio: value / none,
    },
  })
  return [
    { name: 'a turn with one call, no guard', value: none, unit: 'µs' },
    row('one guard as a shadow', shadow),
    row('one guard that enforces and answers', enforcing),
  ]
}

/**
 * Folds as the runtime does: looks up the unit for each record, and asks for what is wanted and due
 * after it.
 */
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
 * Medians in milliseconds, after some to warm up. The two take turns, so that whatever else the
 * machine does hits both alike.
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
