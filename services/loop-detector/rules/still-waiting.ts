// The agent waits for something that runs, and nothing changes. Waiting is no loop: the model is
// reminded, and no wait ends a turn.
//
// STILL-WAITING-1. One wait lasts until a result or a change that is new in the turn. Its bound is
//     its time, by the records. After a reminder the time counts from there.
// STILL-WAITING-2. Looks that follow each other faster than any agent waits have a limit in rounds
//     too, as have looks without times, and looks after short sleeps that show nothing running.
// STILL-WAITING-3. A round without a wait neither counts nor ends it: the agent may look after it
//     slept. A round with news begins it anew.

import {
  type ShownCall,
  stillWaitingForAgents,
  stillWaiting as textOf,
} from '../../../shared/model-texts/interventions.ts'
import { wordsOf } from '../evidence/effect.ts'
import { isWaiting } from '../evidence/evidence.ts'
import { addMatch, emptyStreak, found, roundsText, type Streak } from '../ladder.ts'
import { briefRoundsMax, hastyMs, hastyRoundsMax, waitMsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

/**
 * `since`: its begin. `counted`: the rounds since the begin or the last reminder, at `countedFrom`.
 * `brief`: those of them with no more than a short sleep.
 */
type Memory = {
  streak: Streak
  since: number
  rounds: number
  counted: number
  brief: number
  countedFrom: number
}

const noWait = (): Memory => ({
  streak: emptyStreak(),
  since: 0,
  rounds: 0,
  counted: 0,
  brief: 0,
  countedFrom: 0,
})

export const stillWaiting: Rule<Memory> = {
  name: 'still-waiting',
  version: 2,
  kind: 'tool_loop',
  thresholds: ['loop.waitMinutes', 'loop.identicalSuccesses'],
  description: 'The agent waits for something that runs, and nothing changes for long.',
  firesWhen:
    'one wait lasts for 60 minutes without news, for 25 rounds that follow each other within a second, or for 100 rounds with a sleep below five seconds. It only reminds the model, and again after the same time',
  endedBy: 'any new result, or a change',
  sentence: 'kept waiting',
  initial: noWait,

  judge(memory, { calls, news, time }, { loop }) {
    if (calls.length === 0) return undefined
    const waiting = calls.find(isWaiting)
    if (news.text && memory.rounds > 0) begin(memory, Math.min(memory.rounds, 1), time)
    if (waiting === undefined) return undefined
    if (memory.rounds === 0) begin(memory, 0, time)
    memory.rounds += 1
    memory.counted += 1
    if (!waiting.poll && waiting.sleepsBriefly) memory.brief += 1
    addMatch(memory.streak, waiting)
    const passed = time - memory.countedFrom
    const isHasty = memory.counted >= hastyRoundsMax(loop) && passed < memory.counted * hastyMs
    const isBrief = memory.brief >= briefRoundsMax(loop)
    if (passed < waitMsMax(loop) && !isHasty && !isBrief) return undefined
    Object.assign(memory, { counted: 0, brief: 0, countedFrom: time })
    return finding(memory, time)
  },
}

/** `rounds`: a sleep before the first look belongs to the wait. */
function begin(memory: Memory, rounds: number, time: number): void {
  Object.assign(memory, { ...noWait(), rounds, counted: rounds, since: time, countedFrom: time })
}

function finding({ streak, since, rounds }: Memory, time: number): Finding {
  const minutes = Math.floor((time - since) / 60_000)
  const waited =
    minutes === 0
      ? `${roundsText(rounds)} without a pause`
      : `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} in ${roundsText(rounds)}`
  return found(streak, {
    key: [...new Set(streak.shown.map(({ tool }) => tool))].join(', '),
    reason: `waited for ${waited}, and nothing changed`,
    text: (streak.shown.every(looksAtAgent) ? stillWaitingForAgents : textOf)(streak.shown, waited),
    action: 'nudge',
  })
}

/** By the name of its tool or of its argument. */
function looksAtAgent({ tool, arguments: sent }: ShownCall): boolean {
  return wordsOf(tool).some((word) => agentWords.has(word)) || /"(?:sub_?)?agent_?ids?"/i.test(sent)
}

const agentWords: ReadonlySet<string> = new Set(['agent', 'agents', 'subagent', 'subagents'])
