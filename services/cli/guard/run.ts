// `weir guard run`: one guard in a process of its own, on Kafka, until SIGTERM or SIGINT. On the embedded bus a guard runs in the process that runs the stages.

import { readFileSync } from 'node:fs'
import { WeirError } from '../../../shared/errors.ts'
import { loadGuard } from '../../../shared/guards/load-guard.ts'
import { startGuards } from '../../../shared/guards/start-guards.ts'
import { createLog } from '../../../shared/log.ts'
import type { GuardMode } from '../../../shared/messages.ts'
import { retentionMsOf } from '../../../shared/retention.ts'
import type { Settings } from '../../../shared/settings.ts'
import { openBus, partitionCount } from '../../open-bus.ts'
import { listenForInterrupts } from '../interrupts.ts'

/** `options`: a file of JSON for a guard file that exports a function. */
export type GuardRunOptions = { mode?: GuardMode; options?: string; replace?: boolean }

/** Resolves to the exit code. Throws `guard.invalid`, `guard.taken`, `usage`, and what keeps the bus from opening. */
export async function runGuardFile(file: string, { mode, options, replace = false }: GuardRunOptions, settings: Settings): Promise<0 | 1> {
  if (settings.bus === 'embedded')
    throw new WeirError(
      'usage',
      'on the embedded bus one process does all the writing: run this guard in it, with weir up --guards FOLDER or weir ask --guard FILE; in a process of its own it runs on Kafka (--bus kafka)',
    )
  const guard = await loadGuard(file, guardOptions(options))
  const log = createLog({ level: settings.logLevel })
  const { topicPrefix } = settings
  const bus = await openBus(settings, log)
  const stop = Promise.withResolvers<void>()
  const stopListening = listenForInterrupts(() => stop.resolve())
  try {
    const partitions = await partitionCount(bus, topicPrefix)
    const retentionMs = retentionMsOf(settings.retention)
    const running = await startGuards({ bus, topicPrefix, partitions, retentionMs, guards: [guard], mode, replace, log })
    const end = await Promise.race([stop.promise, running.failed.catch((error: unknown) => ({ error }))])
    if (end !== undefined) log.fatal({ err: end.error, guard: guard.name }, 'the guard cannot go on')
    await running.close()
    return end === undefined ? 0 : 1
  } finally {
    stopListening()
    await bus.close()
  }
}

/** Throws `usage`. */
export function guardOptions(file: string | undefined): unknown {
  if (file === undefined) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw badOptions(file, error)
  }
}

function badOptions(file: string, cause: unknown): WeirError {
  return new WeirError('usage', `--options ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}
