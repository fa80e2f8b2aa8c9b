// The process that holds the command tools of an executor and outlives it. keeper.ts starts the
// child, which starts programs as the executor requests over the IPC channel. Each result is in a
// file before the answer.
// The child ends with the last tool once the executor has ended, and ignores SIGTERM: the executor
// stops the tools.
// Each result is in its file before the executor gets it. No file has a secret of an
// agent file (as TOOL-RUNS-1).
// A start that waited beyond the time that its claim has left never runs (R4).

import { systemClock } from '../../../../shared/lib/clock.ts'
import { secretMask } from '../../../../shared/lib/log/secret-mask.ts'
import { type RunningCommand, runCommand } from '../../../../shared/tools/command/command-run.ts'
import type { ToolEnding } from '../../../../shared/tools/tool.ts'
import {
  type KeeperAnswer,
  type KeeperRequest,
  machineMs,
  type StartRequest,
} from './keeper-protocol.ts'
import { type ClaimId, claimName, stopRequests, writeResult } from './result-files.ts'

const [, , folder = ''] = process.argv
const stopLookMs = 250

type Kept = { tool: RunningCommand; graceMs: number }

function keep(): void {
  const running = new Map<string, Kept>()
  let hideSecrets = (text: string): string => text
  let isAlone = false

  process.on('SIGTERM', () => {})
  process.on('uncaughtException', (error) => {
    answer({ type: 'failed', stack: error.stack ?? error.message })
    setTimeout(() => process.exit(1), 100)
  })
  process.on('message', (request: KeeperRequest) => {
    if (request.type === 'secrets') hideSecrets = secretMask(request.secrets)
    else if (request.type === 'start') start(request)
    else running.get(request.name)?.tool.stop(request.graceMs, request.why)
  })
  process.on('disconnect', () => {
    isAlone = true
    setInterval(stopRequested, stopLookMs)
    endIfIdle()
  })

  function start(request: StartRequest): void {
    const { claim, launch, timeoutMs, graceMs } = request
    const name = claimName(claim)
    if (isLate(request)) return end(claim, { ...givenBack }, 0)
    const startedAt = systemClock.monotonic()
    const call = { arguments: request.arguments, timeoutMs, graceMs, clock: systemClock }
    const tool = runCommand(launch, call)
    running.set(name, { tool, graceMs })
    void tool.started.then((started) => answer({ type: 'started', name, started, pid: tool.pid }))
    void tool.ended.then((ending) =>
      end(claim, ending, Math.max(0, Math.round(systemClock.monotonic() - startedAt))),
    )
  }

  function end(claim: ClaimId, ending: ToolEnding, durationMs: number): void {
    const name = claimName(claim)
    const { status, text, reason, isGivenBack } = ending
    const shown = { status, text: hideSecrets(text), reason: hideSecrets(reason) }
    try {
      const kept = isGivenBack === true ? { ...shown, isGivenBack } : shown
      writeResult(folder, claim, { ending: kept, durationMs })
    } catch {
      // The disk is full, or the folder is gone. A living executor still gets the result.
    }
    running.delete(name)
    answer({ type: 'ended', name, ending })
    endIfIdle()
  }

  function stopRequested(): void {
    for (const name of stopRequests(folder)) {
      const kept = running.get(name)
      kept?.tool.stop(kept.graceMs, 'its call was over, and its executor had ended')
    }
  }

  function endIfIdle(): void {
    if (isAlone && running.size === 0) process.exit(0)
  }
}

const givenBack: ToolEnding = { status: 'skipped', text: '', reason: '', isGivenBack: true }

function isLate({ leftMs, sentAt }: StartRequest): boolean {
  const passed = [Date.now() - sentAt.wall, machineMs() - sentAt.monotonic]
  // As in the performer: a clock that went back proves nothing.
  return passed.some((duration) => duration < -1 || duration >= leftMs)
}

function answer(value: KeeperAnswer): void {
  if (process.connected) process.send?.(value, () => {}) // the executor may end at any time
}

keep()
