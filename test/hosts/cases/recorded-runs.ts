// The runs that record.ts records for `make test`.

import type { Program } from '../programs/program.ts'
import { claudeCode, codex, opencode, qwenCode } from '../programs/terminal-agents.ts'
import type { ObserveOptions } from './case.ts'
import { claudeCodeWork, claudeLoopingAgents } from './claude-code-work.ts'
import { codexLoopingAgents, codexWork } from './codex-work.ts'
import {
  changingPolls,
  equalPolls,
  type Honest,
  honestOptions,
  sleepingPolls,
} from './honest-work.ts'
import {
  bareCall,
  cutArguments,
  type Incident,
  loopScript,
  otherArguments,
  sameSuccess,
} from './incidents.ts'

export type RecordedRun = {
  program: Program
  title: string
  options: ObserveOptions
  /** The first requests that count. */
  requestsMax?: number
}

const honest = (program: Program, work: Honest, requestsMax?: number): RecordedRun => ({
  program,
  title: work.title,
  options: honestOptions(program, work),
  ...(requestsMax !== undefined && { requestsMax }),
})

/** Weir ends a loop before its eighth request. */
const loop = (program: Program, incident: Incident): RecordedRun => ({
  program,
  title: incident.title,
  options: { script: loopScript(program, incident, () => false) },
  requestsMax: 8,
})

export const recordedRuns: readonly RecordedRun[] = [
  ...[equalPolls, changingPolls, sleepingPolls, ...claudeCodeWork].map((work) =>
    honest(claudeCode, work),
  ),
  honest(claudeCode, claudeLoopingAgents),
  honest(codex, codexLoopingAgents),
  ...[bareCall, sameSuccess, cutArguments, otherArguments].map((incident) =>
    loop(claudeCode, incident),
  ),
  ...[equalPolls, sleepingPolls, ...codexWork].map((work) => honest(codex, work)),
  ...[bareCall, sameSuccess].map((incident) => loop(codex, incident)),
  ...[opencode, qwenCode].map((program) => honest(program, equalPolls)),
  loop(opencode, bareCall),
]
