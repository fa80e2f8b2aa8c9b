// An executor as a process that a test kills: it starts one command tool that may outlive it, prints
// `started`, prints `ended` with the result, and stays. Usage: kept-executor.ts OPTIONS, a JSON object.

import { pino } from 'pino'
import { createKeptTools } from '../../services/executor/performer/kept/kept-tools.ts'
import type { ClaimId } from '../../services/executor/performer/kept/result-files.ts'
import type { CommandTool } from '../../shared/agents/agents.ts'
import { systemClock } from '../../shared/lib/clock.ts'

export type KeptExecutorOptions = {
  dataFolder: string
  claim: ClaimId
  run: CommandTool
  secrets: string[]
  timeoutMs: number
}

const options = JSON.parse(process.argv[2] ?? '') as KeptExecutorOptions
const { dataFolder, claim, run, secrets, timeoutMs } = options
const log = pino({ level: 'silent' })
const kept = createKeptTools({ dataFolder, secrets, log, clock: systemClock })
const call = { arguments: '{}', idempotencyKey: 'key', timeoutMs, graceMs: 5_000 }
const tool = kept.start(run, { ...call, clock: systemClock }, { claim, leftMs: 60_000 })
void tool.started.then((started) => process.stdout.write(`started ${started}\n`))
void tool.ended.then((ending) => process.stdout.write(`ended ${JSON.stringify(ending)}\n`))
setInterval(() => {}, 1_000)
