// Where stages run elsewhere, nobody may be there to answer. Who waits is told once, after a while
// of silence, which stage nobody runs.

import type { Turn } from '../../client/turn.ts'
import type { TurnEvent } from '../../client/turn-events.ts'
import { busKindOf } from '../../shared/bus/kinds.ts'
import { type StageName, stageNames } from '../../shared/contract/topology.ts'
import { type Clock, systemClock } from '../../shared/lib/clock.ts'
import { createLog } from '../../shared/lib/log.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Screen } from './live-screen.ts'

const silentMs = 5_000

/**
 * The same turn; while somebody reads its events, a long silence is spoken of on the screen. On a
 * local bus the stages run in this process.
 */
export function noticingSilence(turn: Turn, settings: Settings, screen: Screen): Turn {
  if (busKindOf(settings).isLocal) return turn
  return hearingSilence(turn, systemClock, async (heard) => {
    const notice = noticeOf(await missingStages(settings), heard)
    if (notice !== undefined) screen.print(`  ${notice}`)
  })
}

/** `silent`: called once, when no event came for a while; `heard`: whether one had come before. */
export function hearingSilence(
  turn: Turn,
  clock: Clock,
  silent: (heard: boolean) => Promise<void>,
): Turn {
  async function* events(): AsyncGenerator<TurnEvent, void> {
    let heard = false
    let isTold = false
    let isOver = false
    const wait = () =>
      clock.after(silentMs, () => {
        if (isTold || isOver) return
        isTold = true
        silent(heard).catch(() => {}) // it is only a notice
      })
    let cancelWait = wait()
    try {
      for await (const event of turn) {
        cancelWait()
        heard = true
        yield event
        cancelWait = wait()
      }
    } finally {
      isOver = true
      cancelWait()
    }
  }
  const { conversation, messageId, finished } = turn
  return {
    conversation,
    messageId,
    finished,
    cancel: () => turn.cancel(),
    [Symbol.asyncIterator]: events,
  }
}

/** Undefined: there is no reason for one; a model may think, a tool may take its time. */
export function noticeOf(missing: StageName[] | undefined, heard: boolean): string | undefined {
  const silence = `nothing was heard for ${silentMs / 1000} s`
  const waiting = 'Still waiting; Ctrl-C cancels'
  if (missing === undefined) return `${silence}. Do the stages run? weir up starts them. ${waiting}`
  if (missing.length === stageNames.length)
    return `${silence}: no stage runs. weir up starts them. ${waiting}`
  if (missing.length > 0)
    return `${silence}: nobody runs ${missing.join(', ')}. weir up --stages ${missing.join(',')} does. ${waiting}`
  return heard
    ? undefined
    : `${silence}, though all stages run; perhaps they have much to do, or lost their way to the brokers. ${waiting}`
}

/** Stages whose consumer group has no member. Undefined: the bus does not know. */
export async function missingStages(settings: Settings): Promise<StageName[] | undefined> {
  const kind = busKindOf(settings)
  if (kind.isLocal) return undefined
  try {
    const groups = stageNames.map((stage) => settings.topicPrefix + stage)
    const members = await kind.membersOfGroups(settings, groups, createLog({ level: 'silent' }))
    return stageNames.filter((stage) => members.get(settings.topicPrefix + stage) === 0)
  } catch {
    return undefined
  }
}
