// What the index of a page says of a conversation, and under which heading. Pure.

import type { ConversationId } from '../../shared/contract/ids.ts'
import type { Group, IndexEntry, ReportData } from './page/data.ts'

/**
 * Where a conversation is: its data in the page, and the times of its first and its last record.
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
 * What somebody looks for first comes first: an answer says nothing of the loop before it. Else the
 * newest turn counts: who failed may be answered by now.
 */
function groupOf({ timeline: { turns, messages }, imported, tone }: ReportData): Group {
  if (turns.some(({ loops }) => loops.length > 0)) return 'loop'
  if (imported !== null && imported.wouldHave !== null) return 'imported'
  const newest = turns.at(-1)
  if (imported !== null) return groupsByTone[newest?.tone ?? tone] // nothing of it runs
  if (newest?.end === null || messages.some(({ end }) => end === null)) return 'open'
  return groupsByTone[newest?.tone ?? tone]
}

const groupsByTone = { bad: 'unanswered', warning: 'limited', good: 'answered' } as const

/** Of one that is listed only: the page was full. */
export function listedEntry(conversation: ConversationId): IndexEntry {
  return {
    ...{ conversation, from: null, to: null, place: null },
    ...{
      sentence: ['Not in this page: it would have become too large.'],
      tone: 'warning',
      group: 'answered',
    },
    ...{ turns: 0, rounds: 0, loopRounds: 0, tokens: 0, openTurns: 0, cutTurns: 0 },
  }
}
