// Rounds in a row that bring only known calls with known results, or views of known pieces
// (novelty.ts). Examples are guesses among known answers, known pages in another order, edits that
// undo each other. The other rules count one call, one answer or one order. This one counts any mixture.
//
// A round with a call that waits ends the streak, because the agent waits. A
// failure that may clear neither counts nor ends it. The same holds for rounds without calls.
// One call alone is no mixture: identical-success and identical-failure count it.
// The ladder has one step for each whole limit of rounds, because a long check of
// known things can be honest.
// After a restart that is new, the rounds of the turn may come once again, in their
// order: the agent replays its set-up. These rounds neither count nor end the streak.

import { limits } from '../../../shared/contract/limits.ts'
import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { addMatch, emptyStreak, found, type Streak } from '../ladder.ts'
import { sameAnswerRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'
import { leashOf } from './cycle.ts'

/** `first`: a call of the streak. `isMixed`: it has another one. */
type Row = { streak: Streak; rounds: number; first: string; isMixed: boolean }

/**
 * `setUp`: the first rounds of the turn. `replayAt`: the place in them from which a replay goes on.
 * `over`: it was, or its rounds were others.
 */
type Memory = Row & { setUp: string[]; replayAt: number | 'none' | 'over' }

const noStreak = (): Row => ({ streak: emptyStreak(), rounds: 0, first: '', isMixed: false })

export const nothingNew: Rule<Memory> = {
  name: 'nothing-new',
  version: 4,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Rounds in a row bring only calls with results that the turn already had.',
  firesWhen:
    'different calls bring only results that they already had in the turn, for the 8th round in a row. Known lines, links and checks in another order, range or spelling count too',
  endedBy:
    'a new call or result, or a call that waits; the first replay of a set-up after a restart does not count',
  sentence: 'repeated known calls with known results',
  initial: () => ({ ...noStreak(), setUp: [], replayAt: 'none' }),

  judge(memory, { calls, news, print }, { loop }) {
    if (calls.length === 0) return undefined
    const leash = leashOf(calls)
    if (!news.known) {
      const { setUp, replayAt } = memory
      if (replayAt === 'none' && setUp.length > 0 && calls.some(restarts)) memory.replayAt = 0
      if (setUp.length < limits.loopStreaksMax) setUp.push(print)
    }
    if (!news.known || leash === 'polling') {
      if (memory.rounds > 0) Object.assign(memory, noStreak())
      return undefined
    }
    if (leash === 'transient' || isReplay(memory, print)) return undefined
    memory.rounds += 1
    for (const call of calls) {
      if (memory.first === '') memory.first = call.key
      else if (memory.first !== call.key) memory.isMixed = true
      addMatch(memory.streak, call)
    }
    return memory.isMixed && memory.rounds % sameAnswerRoundsMax(loop) === 0
      ? finding(memory)
      : undefined
  },
}

/** Whether the known round goes on with the replay. Any other known round ends the replay. */
function isReplay(memory: Memory, print: string): boolean {
  if (typeof memory.replayAt === 'string') return false
  const at = memory.setUp.indexOf(print, memory.replayAt)
  memory.replayAt = at < 0 ? 'over' : at + 1
  return at >= 0
}

/** Its tool, its command or its answer tells of a restart. */
function restarts({ tool, raw, text }: CallEvidence): boolean {
  return (
    restart.test(tool) ||
    (raw.length <= charsMax && restart.test(raw)) ||
    (text.length <= charsMax && restart.test(text))
  )
}

const charsMax = 256
const restart =
  /[rR]e(?:start|set|boot|launch|connect|spawn|creat)|(?:new|fresh) (?:session|kernel|sandbox|container)\b/

function finding({ streak, rounds }: Row): Finding {
  return found(streak, {
    key: [...new Set(streak.shown.map(({ tool }) => tool))].join(', '),
    reason: `${rounds} rounds in a row brought only calls with results that the turn already had`,
    text: noProgress(streak.shown, texts.nothingNew(rounds)),
  })
}
