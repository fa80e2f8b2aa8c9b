// R5, R6, for calls that wait for guards. Each awaited guard has one verdict that counts, its own
// or the one of on-timeout, unless the call was over before. It is reported once. A veto names its
// guard and carries the guard's text to the model.

import type { CallResult } from '../../../shared/contract/messages.ts'
import { type ClearedCall, clearedCalls } from '../claims.ts'
import {
  addressOf,
  type Checker,
  callKey,
  type Evidence,
  recordsOf,
  roundKey,
  type Violation,
} from '../evidence.ts'
import { firstAnswers } from './rejected-never-start.ts'

const checker = 'guards-decide'

export const guardsDecide: Checker = {
  name: checker,
  check(evidence) {
    const calls = clearedCalls(evidence)
    return [...wordsTold(evidence, calls), ...vetoes(evidence, calls)]
  },
}

/** Each awaited guard of a round is reported once, with the verdict that counted for each call. */
function wordsTold(evidence: Evidence, calls: Map<string, ClearedCall>): Violation[] {
  const violations: Violation[] = []
  const counted = new Map<string, string[]>()
  for (const { key, words } of calls.values()) {
    const [conversation, turn, round, ordinal] = JSON.parse(key) as [string, number, number, number]
    for (const { guard, answer, verdict } of words) {
      const place = `${guard} ${roundKey({ conversation, turn, round })}`
      counted.set(place, [...(counted.get(place) ?? []), `${answer}: call ${ordinal} ${verdict}`])
    }
  }
  const told = new Map<string, string[]>()
  for (const record of recordsOf(evidence, 'guard-verdict-given')) {
    const { guard, answer, verdicts } = record.message
    const place = `${guard} ${roundKey(record.message)}`
    const say = (what: string) =>
      violations.push({ checker, what: `the word of ${place} ${what}`, at: addressOf(record) })
    if (told.has(place)) say('is told a second time')
    const said = verdicts.map(({ ordinal, verdict }) => `${answer}: call ${ordinal} ${verdict}`)
    told.set(place, said)
    const expected = counted.get(place) ?? []
    if (said.toSorted().join() !== expected.toSorted().join())
      say(`is told as [${said}], and the log says [${expected}]`)
  }
  for (const [place, expected] of counted)
    if (!told.has(place))
      violations.push({ checker, what: `the word of ${place}, [${expected}], is told to nobody` })
  for (const { key, asked, words, ending, at } of calls.values())
    if (
      ending !== undefined &&
      ending !== 'skipped' &&
      ending !== 'vetoed' &&
      words.length < asked.length
    )
      violations.push({
        checker,
        what: `${key} is ${ending}, and of ${asked.map(({ name }) => name)} only ${words.length} let it pass`,
        at,
      })
  return violations
}

function vetoes(evidence: Evidence, calls: Map<string, ClearedCall>): Violation[] {
  const violations: Violation[] = []
  const answers = firstAnswers(evidence)
  for (const record of recordsOf(evidence, 'round-outcome'))
    for (const result of record.message.results) {
      if (result.status !== 'vetoed') continue
      const key = callKey(record.message, result.ordinal)
      const say = (what: string) =>
        violations.push({ checker, what: `${key} ${what}`, at: addressOf(record) })
      const word = calls.get(key)?.words.find(({ verdict }) => verdict === 'reject')
      if (word === undefined) {
        say(`is vetoed (${result.reason}), and no guard rejected it`)
        continue
      }
      if (!names(result, word.guard))
        say(
          `was vetoed by guard ${word.guard}, and its result does not say so: ${result.reason}; ${result.text}`,
        )
      const verdicts = answers.get(word.guard)?.get(roundKey(record.message))?.message.verdicts
      const text = verdicts?.find(({ ordinal }) => ordinal === result.ordinal)?.text
      if (
        word.answer === 'verdicts' &&
        (text === undefined || text === '' || !result.text.includes(text))
      )
        say(
          `was vetoed by guard ${word.guard} with the text ${JSON.stringify(text)}, and the model reads: ${result.text}`,
        )
    }
  return violations
}

function names({ reason, text }: CallResult, guard: string): boolean {
  return reason.startsWith(`vetoed by guard ${guard}:`) && text.includes(`the guard "${guard}"`)
}
