// The stages with their lag, and the time since which no process runs one.
// The log has no record of a process that ends, so the time is the first look
// without one. It begins anew after a pause between two looks.

import { limits } from '../../../../shared/contract/limits.ts'
import type { Milliseconds } from '../../../../shared/lib/clock.ts'
import { type StageProgress, stageProgress } from '../../../service/stage-progress.ts'
import type { ConsoleParts } from '../console-parts.ts'
import type { StagesData } from '../page/operator-state.ts'

/** At most one look in `limits.consoleRefreshMs`, for all pages. */
export function stagesReader({ log, settings }: Pick<ConsoleParts, 'log' | 'settings'>) {
  const idle = idleTimes()
  let known: { at: Milliseconds; data: Promise<StagesData> } | undefined
  return (): Promise<StagesData> => {
    const now = log.bus.clock.now()
    if (known === undefined || now - known.at >= limits.consoleRefreshMs)
      known = { at: now, data: stageProgress(log, settings).then((all) => idle(all, now)) }
    return known.data
  }
}

export function idleTimes(): (all: StageProgress[], now: Milliseconds) => StagesData {
  let since = new Map<string, Milliseconds>()
  let lookedAt = Number.NEGATIVE_INFINITY
  return (all, now) => {
    const before = now - lookedAt <= pauseMs ? since : new Map<string, Milliseconds>()
    lookedAt = now
    const idle = all.filter(({ isRunning }) => !isRunning)
    since = new Map(idle.map(({ stage }) => [stage, before.get(stage) ?? now]))
    return { stages: all.map((one) => ({ ...one, idleSince: since.get(one.stage) ?? null })) }
  }
}

const pauseMs = 6 * limits.consoleRefreshMs
