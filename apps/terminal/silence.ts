// If stages run elsewhere, maybe no process runs them. After a while without an event, the screen
// shows once which stages are missing.

import type { Turn } from '../../client/turn/turn.ts'
import type { TurnEvent } from '../../client/turn/turn-event.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import { type Clock, systemClock } from '../../shared/lib/clock.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Screen } from './live-screen.ts'

const silentMs = 5_000

/**
 * The same turn. While its events are read, the screen reports a long silence. On a local bus
 * the stages run in this process, so there is nothing to report.
 */
export function withSilenceNotice(turn: Turn, settings: Settings, screen: Screen): Turn {
  if (busKindOf(settings).isLocal) return turn
  return watchForSilence(turn, systemClock, async (hadEvents) => {
    const notice = noticeOf(await missingStages(settings), hadEvents)
    if (notice !== undefined) screen.print(`  ${notice}`)
  })
}

/** Calls `onSilence` once, after a while without an event. `hadEvents`: there was one before. */
export function watchForSilence(
  turn: Turn,
  clock: Clock,
  onSilence: (hadEvents: boolean) => Promise<void>,
): Turn {
  async function* events(): AsyncGenerator<TurnEvent, void> {
    let hadEvents = false
    let wasReported = false
    let isOver = false
    const wait = () =>
      clock.after(silentMs, () => {
        if (wasReported || isOver) return
        wasReported = true
        onSilence(hadEvents).catch(() => {}) // it is only a notice
      })
    let cancelWait = wait()
    try {
      for await (const event of turn) {
        cancelWait()
        hadEvents = true
        yield event
        cancelWait = wait()
      }
    } finally {
      isOver = true
      cancelWait()
    }
  }
  return {
    ...turn,
    events: { [Symbol.asyncIterator]: events },
    [Symbol.asyncIterator]: events,
  }
}

/** Undefined: nothing to report, because a model may think and a tool may need its time. */
export function noticeOf(missing: StageName[] | undefined, hadEvents: boolean): string | undefined {
  const silence = `no event for ${silentMs / 1000} s`
  const waiting = 'Still waiting; Ctrl-C cancels'
  if (missing === undefined) return `${silence}. Do the stages run? Start them: weir up. ${waiting}`
  if (missing.length === stageNames.length)
    return `${silence}: no stage runs. Start them: weir up. ${waiting}`
  if (missing.length > 0)
    return `${silence}: no process runs ${missing.join(', ')}. Start it: weir up --stages ${missing.join(',')}. ${waiting}`
  return hadEvents
    ? undefined
    : `${silence}, though all stages run. They may be busy, or have lost their connection to the brokers. ${waiting}`
}

/** Stages whose consumer group has no member. Undefined: the bus cannot tell. */
export async function missingStages(settings: Settings): Promise<StageName[] | undefined> {
  const kind = busKindOf(settings)
  if (kind.isLocal) return undefined
  try {
    const groups = stageNames.map((stage) => settings.topicPrefix + stage)
    const members = await (await kind.groups(settings, createLog({ level: 'silent' }))).members(
      groups,
    )
    return stageNames.filter((stage) => members.get(settings.topicPrefix + stage) === 0)
  } catch {
    return undefined
  }
}
