// The messages between an executor and the process that holds its command tools, as JSON.

import type { CommandLaunch } from '../../../../shared/tools/command/command-run.ts'
import type { ToolEnding } from '../../../../shared/tools/tool.ts'
import type { ClaimId } from './result-files.ts'

/** `leftMs`: from `sentAt` on, by both clocks. */
export type StartRequest = {
  type: 'start'
  claim: ClaimId
  launch: CommandLaunch
  arguments: string
  timeoutMs: number
  graceMs: number
  leftMs: number
  sentAt: { wall: number; monotonic: number }
}
export type KeeperRequest =
  | { type: 'secrets'; secrets: string[] }
  | StartRequest
  | { type: 'stop'; name: string; graceMs: number; why: string }

export type KeeperAnswer =
  | { type: 'started'; name: string; started: boolean; pid?: number | undefined }
  | { type: 'ended'; name: string; ending: ToolEnding }
  | { type: 'failed'; stack: string }

/** Milliseconds of the machine's monotonic clock, which all its processes share. */
export function machineMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}
