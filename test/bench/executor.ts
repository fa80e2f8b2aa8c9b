// How many records the executor folds in a second, for rounds of one call and of sixteen; and what the command tool adds to starting a process:
// beside it a bare spawn of the same program with the same three pipes.
//
// Not measured: reading, decoding and writing the records, the two hops between claim and start, tools that do something, and a machine that is
// busy with the tools themselves. The program is `true`, so the start is all there is.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startCommand } from '../../services/executor/command.ts'
import type { Turn } from '../../services/executor/reducer.ts'
import { executor } from '../../services/executor/reducer.ts'
import { defaultPolicy } from '../../shared/agents.ts'
import { systemClock } from '../../shared/clock.ts'
import type { Call, Claim, Declaration, Outcome, RoundCleared, TurnEnded } from '../../shared/messages.ts'
import type { Row } from './row.ts'

const laps = 30
const recordsInLap = 30_000
const starts = 150

/** All rows of the executor. */
export async function benchExecutor(): Promise<Row[]> {
  const { bare, ours } = await startTimes()
  return [
    { name: 'a turn with one call: records', value: recordsPerSecond(1), unit: 'records/s' },
    { name: 'a turn with sixteen calls: records', value: recordsPerSecond(16), unit: 'records/s' },
    { name: 'command tool: start to result of `true`', value: ours, unit: 'ms', baseline: 'a bare spawn', ratio: ours / bare },
    { name: 'bare spawn: start to end of `true`', value: bare, unit: 'ms' },
  ]
}

type Recorded = RoundCleared | Claim | Outcome | TurnEnded

const mail: Declaration = { name: 'mail', description: '', schema: '{}', idempotent: false, timeoutMs: 1_000, poll: false }

function recordsOf(calls: number): Recorded[] {
  const place = { conversation: 'c', turn: 1 }
  const all = Array.from({ length: calls }, (_, ordinal): Call => {
    return { ordinal, id: 'id', name: 'mail', raw: '{"to":"somebody"}', source: 'deltas', problem: null }
  })
  const stamped = { agent: 'agent', policy: defaultPolicy, expiresAt: 1e9, declarations: [mail], decided: [] }
  const claims = all.map(({ ordinal }): Claim => ({ type: 'claim', ...place, round: 1, ordinal, try: 1, owner: 'a' }))
  const outcomes = claims.map(({ ordinal, ...claim }): Outcome => {
    return { ...claim, type: 'outcome', ordinal, result: { ordinal, status: 'ok', text: 'a short result', reason: '', durationMs: 1 } }
  })
  return [{ type: 'round-cleared', ...place, round: 1, calls: all, ...stamped }, ...claims, ...outcomes, { type: 'turn-ended', ...place }]
}

/** Folds as the runtime does: looks up the unit for each record, and asks for what is wanted and due after it. */
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
    const { state } = executor.react(units.get(unit), { message, offset, previous: undefined, time: offset })
    if (state === undefined) units.delete(unit)
    else units.set(unit, state)
    if (state !== undefined) tasks += executor.wants(state).length + Math.sign(executor.due(state) ?? 0)
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

async function startOurs(): Promise<void> {
  const call = { arguments: '{}', idempotencyKey: 'key', timeoutMs: 10_000, graceMs: 1_000, clock: systemClock }
  const { status, text } = await startCommand({ kind: 'command', argv: ['true'] }, call).ended
  if (status !== 'ok') throw new Error(`the bench could not start \`true\`: ${text}`)
}

/** Medians in milliseconds, after some starts to warm up. The two take turns, so that whatever else the machine does hits both alike. */
async function startTimes(): Promise<{ bare: number; ours: number }> {
  const [bare, ours]: [number[], number[]] = [[], []]
  for (let i = 0; i < starts + 10; i += 1) {
    const times = { bare: await msOf(startBare), ours: await msOf(startOurs) }
    if (i < 10) continue
    bare.push(times.bare)
    ours.push(times.ours)
  }
  return { bare: median(bare), ours: median(ours) }
}

async function msOf(start: () => Promise<void>): Promise<number> {
  const begun = process.hrtime.bigint()
  await start()
  return Number(process.hrtime.bigint() - begun) / 1e6
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0
}
