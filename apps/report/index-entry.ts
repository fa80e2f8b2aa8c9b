// The entry of a conversation in the index of a page, and its heading. Pure.

import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Group, IndexEntry, ReportData } from './page/data.ts'

/**
 * `place`: the number of the conversation's data in the page. `from`, `to`: the times of its first
 * and last record.
 */
export type Entered = {
  conversation: ConversationId
  from: number | null
  to: number | null
  place: number
}

export function indexEntry(
  { conversation, from, to, place }: Entered,
  data: ReportData,
): IndexEntry {
  const { timeline, imported, sentence, tone, figures } = data
  return {
    ...{ conversation, from, to, place, sentence, tone },
    group: groupOf(data),
    turns: timeline.turns.length,
    rounds: figures.rounds,
    loopRounds: figures.loopRounds,
    tokens: figures.inputTokens + figures.outputTokens,
    openTurns: imported === null ? timeline.turns.filter(({ end }) => end === null).length : 0,
    cutTurns: timeline.turns.filter(({ isWhole }) => !isWhole).length,
  }
}

/**
 * The most important group first. A loop counts even if the turn was answered. Otherwise the newest
 * turn counts: a later turn may have answered after a failure.
 */
function groupOf({ timeline: { turns, messages }, imported, tone }: ReportData): Group {
  if (turns.some(({ loops }) => loops.length > 0)) return 'loop'
  if (imported !== null && imported.wouldHave !== null) return 'imported'
  const newest = turns.at(-1)
  if (imported !== null) return groupsByTone[newest?.tone ?? tone] // never open: it does not run
  if (newest?.end === null || messages.some(({ end }) => end === null)) return 'open'
  return groupsByTone[newest?.tone ?? tone]
}

const groupsByTone = { bad: 'unanswered', warning: 'limited', good: 'answered' } as const

/** The entry of a conversation that no longer fits into the page. */
export function listedEntry(conversation: ConversationId): IndexEntry {
  return {
    ...{ conversation, from: null, to: null, place: null },
    ...{
      sentence: ['Not in this page: it would be too large.'],
      tone: 'warning',
      group: 'answered',
    },
    ...{ turns: 0, rounds: 0, loopRounds: 0, tokens: 0, openTurns: 0, cutTurns: 0 },
  }
}
