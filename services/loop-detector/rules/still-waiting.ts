// The agent waits for something that runs, and nothing changes. Waiting is no loop: the model is
// reminded, and no wait ends a turn.
//
// One wait lasts until a result or a change that is new in the turn. Its bound is
// its time, by the records. After a reminder the time counts from there.
// Looks that follow each other faster than any agent waits have a limit in rounds
// too, as have looks without times, and looks after short sleeps that show nothing running.
// A look at an agent that a call of the turn started, by a sleep or without a wait,
// has a limit in rounds: the agent's end comes by itself. `children` has the ids of such agents.
// So has a look at a thing that cannot start, by its own answer.
// A round without a wait neither counts nor ends it: the agent may look after it
// slept. A round with news begins it anew.

import { limits } from '../../../shared/contract/limits.ts'
import { remember } from '../../../shared/lib/recency.ts'
import {
  stillWaitingForAgents,
  stillWaiting as textOf,
} from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { commandIn, wordsOf } from '../evidence/effect.ts'
import { isWaiting } from '../evidence/evidence.ts'
import { addMatch, emptyStreak, found, roundsText, type Streak } from '../ladder.ts'
import { agentStarted, looksAtAgent } from '../meaning/agent-task.ts'
import {
  agentLookMs,
  briefRoundsMax,
  hastyMs,
  hastyRoundsMax,
  vainLooksMax,
  waitMsMax,
} from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'
import { isBlocked } from '../waiting/obstacle.ts'
import { namesWait } from '../waiting/waiting.ts'

/**
 * `since`: its begin. `counted`: the rounds since the begin or the last reminder, at `countedFrom`.
 * `brief`: those of them with no more than a short sleep. `vain`: those in a row that only look at
 * `children`, with one result, `look`. `blocked`: those whose answer says why the thing cannot start.
 */
type Memory = {
  streak: Streak
  since: number
  rounds: number
  counted: number
  brief: number
  vain: number
  blocked: number
  look: string
  isOfAgents: boolean
  children: Set<string>
  countedFrom: number
}

const noWait = (): Memory => ({
  streak: emptyStreak(),
  since: 0,
  rounds: 0,
  counted: 0,
  brief: 0,
  vain: 0,
  blocked: 0,
  look: '',
  isOfAgents: true,
  children: new Set(),
  countedFrom: 0,
})

export const stillWaiting: Rule<Memory> = {
  name: 'still-waiting',
  version: 4,
  kind: 'tool_loop',
  thresholds: ['loop.waitMinutes', 'loop.identicalSuccesses'],
  description: 'The agent waits for something that runs, and nothing changes for long.',
  firesWhen:
    'a wait lasts for 60 minutes without news, for 25 rounds within a second each, or for 100 short sleeps. For 10 quick looks at an agent that a call started, or 10 looks at a thing whose state says why it cannot start. The rule only reminds the model',
  endedBy: 'any new result, or a change',
  sentence: 'kept waiting',
  initial: noWait,

  judge(memory, { calls, news, time }, { loop }) {
    if (calls.length === 0) return undefined
    const waiting = calls.find(isWaiting)
    noteChildren(memory.children, calls)
    if (news.text && memory.rounds > 0) begin(memory, Math.min(memory.rounds, 1), time)
    if (waiting === undefined) return undefined
    if (memory.rounds === 0) begin(memory, 0, time)
    memory.rounds += 1
    memory.counted += 1
    if (!waiting.poll && waiting.sleepsBriefly) memory.brief += 1
    if (isVain(memory, waiting)) {
      memory.vain = waiting.result === memory.look ? memory.vain + 1 : 1
      memory.look = waiting.result
    }
    if (waiting.poll && isBlocked(waiting.text)) memory.blocked += 1
    if (memory.vain === 0 && !looksAtAgent(waiting)) memory.isOfAgents = false
    addMatch(memory.streak, waiting)
    const passed = time - memory.countedFrom
    const isHasty = memory.counted >= hastyRoundsMax(loop) && passed < memory.counted * hastyMs
    const isBrief = memory.brief >= briefRoundsMax(loop)
    const isVainly = memory.vain >= vainLooksMax(loop) && passed < memory.counted * agentLookMs
    const isHopeless = memory.blocked >= vainLooksMax(loop)
    if (passed < waitMsMax(loop) && !isHasty && !isBrief && !isVainly && !isHopeless)
      return undefined
    Object.assign(memory, { counted: 0, brief: 0, vain: 0, blocked: 0, countedFrom: time })
    return finding(memory, time)
  },
}

/** `rounds`: a sleep before the first look belongs to the wait. */
function begin(memory: Memory, rounds: number, time: number): void {
  const { children } = memory
  Object.assign(memory, {
    ...noWait(),
    children,
    rounds,
    counted: rounds,
    since: time,
    countedFrom: time,
  })
}

function finding({ streak, since, rounds, isOfAgents }: Memory, time: number): Finding {
  const minutes = Math.floor((time - since) / 60_000)
  const waited =
    minutes === 0
      ? `${roundsText(rounds)} without a pause`
      : `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} in ${roundsText(rounds)}`
  return found(streak, {
    key: [...new Set(streak.shown.map(({ tool }) => tool))].join(', '),
    reason: `waited for ${waited}, and nothing changed`,
    text: (isOfAgents ? stillWaitingForAgents : textOf)(streak.shown, waited),
    action: 'nudge',
  })
}

/** Adds agents that go on, and removes those that another result names, such as that of their end. */
function noteChildren(children: Set<string>, calls: CallEvidence[]): void {
  for (const call of calls) {
    const started = agentStarted(call)
    if (started !== undefined) remember(children, started, limits.loopIdsMax)
    else if (!isWaiting(call))
      for (const id of children) if (call.text.includes(id)) children.delete(id)
  }
}

/** Whether the call only sleeps while a child runs, or looks at a child and names no wait. */
function isVain({ children }: Memory, call: CallEvidence): boolean {
  const { sleeps, tool, value, raw } = call
  if (children.size === 0) return false
  if (sleeps) return commandIn(value) !== undefined || !wordsOf(tool).includes('wait')
  return !namesWait(value) && [...children].some((id) => raw.includes(id))
}
