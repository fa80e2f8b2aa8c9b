// The entry of a conversation in the index of a page, and its heading. Pure.

import { firstWords } from '../../client/history/first-words.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { sumOfFacts } from '../../shared/view/turn-facts.ts'
import type { Group, IndexEntry, ReportData } from './page/data.ts'

/**
 * `place`: the number of the conversation's data in the page. `from`: the time of its first record.
 */
export type Entered = { conversation: ConversationId; from: number | null; place: number }

export function indexEntry({ conversation, from, place }: Entered, data: ReportData): IndexEntry {
  const { timeline, imported, sentence, tone, figures } = data
  const { turns } = timeline
  const text = turns[0]?.text ?? timeline.messages[0]?.text ?? null
  const isLive = imported === null
  return {
    conversation,
    from: isLive ? from : null,
    place,
    sentence,
    tone,
    agents: [...new Set(turns.map(({ agent }) => agent))].filter((agent) => agent !== ''),
    question: timeline.title ?? (text === null ? null : firstWords(text)),
    facts: isLive ? sumOfFacts(turns.map(({ facts }) => facts)) : null,
    ms: isLive ? figures.ms : null,
    group: groupOf(data),
    turns: turns.length,
    rounds: figures.rounds,
    loopRounds: figures.loopRounds,
    tokens: figures.inputTokens + figures.outputTokens,
    openTurns: isLive ? turns.filter(({ end }) => end === null).length : 0,
    cutTurns: turns.filter(({ isWhole }) => !isWhole).length,
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
    conversation,
    agents: [],
    question: null,
    facts: null,
    ms: null,
    from: null,
    place: null,
    sentence: ['Not in this page: it would be too large.'],
    tone: 'warning',
    group: 'answered',
    turns: 0,
    rounds: 0,
    loopRounds: 0,
    tokens: 0,
    openTurns: 0,
    cutTurns: 0,
  }
}
