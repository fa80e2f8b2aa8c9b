// Reworded calls keep getting the same answer: a search without hits in ever new words, a command
// in ever new spellings.
//
// Only different calls count. Repeats of one call belong to identical-success.
// Tools that change something are exempt, and so are short answers: eight written
// files give eight answers "ok", and eight hosts may all be "healthy".
// Calls about different subjects (subject.ts) may be a batch, so their limit is
// doubled. So may searches without hits and without a common word, or with one other word. So are
// calls of one address that differ in the values of its parameters.
// An answer of several lines, all different from those of the answer before it, is
// another answer: the next window of a log may differ only in clocks.
// A new answer and a change end all streaks. A tool of unknown effect has the doubled
// limit, and only a new answer ends its streaks: each of its calls would be a change.

import { limits } from '../../../shared/contract/limits.ts'
import { remember, touch } from '../../../shared/lib/recency.ts'
import { noProgress, finding as texts } from '../../../shared/model-texts/interventions.ts'
import type { CallEvidence } from '../evidence/call-evidence.ts'
import { subjectOf } from '../evidence/subject.ts'
import { addMatch, emptyStreak, found, type Streak, weightiest } from '../ladder.ts'
import { isEmptyHanded } from '../meaning/empty-handed.ts'
import { pageIn, withoutParameters } from '../meaning/page-reference.ts'
import type { Question } from '../meaning/question.ts'
import { type Wording, wordingOf } from '../meaning/wording.ts'
import { batchRoundsMax, sameAnswerRoundsMax } from '../patience.ts'
import type { Finding, Rule } from '../rule.ts'

/** `lines`: those of the latest answer. */
type AnswerStreak = Streak & { rounds: number; calls: Set<string>; lines: ReadonlySet<string> } & {
  /** Of searches without hits, those of the newest one, and the rounds with one of them. */
  words: Set<string> | undefined
  wording: string[]
  reworded: number
}
type Streaks = Map<string, AnswerStreak>
/**
 * The newest questions in a row with one answer or report. Its words are those that all of them have.
 * `known`: all names.
 */
type Asked = Streak & Question & { rounds: number; last: Question; known: Set<string> }
/** `opaque`: those of tools with unknown effect. `page`: the call that opened the newest one. */
type Memory = {
  reads: Streaks
  opaque: Streaks
  page: string
  asked: Asked | undefined
}

export const sameAnswer: Rule<Memory> = {
  name: 'same-answer',
  version: 13,
  kind: 'tool_loop',
  thresholds: ['loop.identicalSuccesses'],
  description: 'Reworded calls keep getting the same answer.',
  firesWhen:
    'calls in new words get the same answer for the 8th time, or for the 16th if each is about another file, server, id or value of a parameter',
  endedBy:
    'an answer that is new in the turn, or a change; for a tool with unknown effect and a page only the answer. Words to a reader: any other new call, or a new name',
  sentence: 'kept rewording a call with the same result',
  initial: () => ({ reads: new Map(), opaque: new Map(), page: '', asked: undefined }),

  judge(turn, { round, calls, news, spoken }, { loop }) {
    const { reads: memory, opaque } = turn
    if (news.text) memory.clear()
    if (news.answer) opaque.clear()
    const findings: Finding[] = []
    if (calls.some((call, at) => call.isNew && spoken[at]?.question === undefined))
      turn.asked = undefined
    for (const [at, call] of calls.entries()) {
      const question = spoken[at]?.question
      const repeated = question && countQuestion(turn, question, call, round)
      if (repeated !== undefined && repeated.rounds >= sameAnswerRoundsMax(loop)) {
        findings.push(finding(repeated, call))
        continue
      }
      if (call.opens) turn.page = call.key
      const meaning = meaningOf(call)
      if (meaning === 'nothing') continue
      // A look without an address repeats itself, and shows the page that was opened before.
      const isLook = meaning === 'answer' && !call.isNew && turn.page !== ''
      if (meaning === 'page' || (isLook && call.answer.length >= longAnswerMin)) {
        const all = countCall(
          opaque,
          call.result,
          call,
          round,
          call.key + (isLook ? turn.page : ''),
        )
        if (all !== undefined && all.rounds + (isLook ? 1 : 0) >= batchRoundsMax(loop))
          findings.push(finding(all, call, texts.refusedPage))
        const page = isLook ? undefined : pageIn(call.raw)
        const spelling = withoutParameters(call.raw) ?? call.key
        const same = page && countCall(opaque, `${call.result} ${page}`, call, round, spelling)
        if (same && same.rounds >= sameAnswerRoundsMax(loop)) findings.push(finding(same, call))
        if (!isLook) continue
      }
      const wording = meaning === 'empty' ? wordingOf(call.value) : 'fields'
      const all = countCall(memory, call.result, call, round)
      if (all === undefined) continue
      const reworded = typeof wording === 'object' ? countWording(all, wording, call) : 0
      const rewordings = wording === 'question' ? all.rounds : reworded
      const isStatement = typeof wording === 'object' && wording.about !== undefined
      const batch = isStatement ? 0 : all.rounds
      if (rewordings >= sameAnswerRoundsMax(loop) || batch >= batchRoundsMax(loop))
        findings.push(finding(all, call))
      // The subjects of the first answer are not compared: no call has repeated it yet.
      if (wording !== 'fields' || all.rounds < 2) continue
      const subject = subjectOf(call.value, call.freeText && meaning !== 'empty')
      const spelling = withoutParameters(call.raw) ?? call.key
      const ofSubject = countCall(memory, `${call.result} ${subject}`, call, round, spelling)
      if (ofSubject !== undefined && ofSubject.rounds + 1 >= sameAnswerRoundsMax(loop))
        findings.push(finding(ofSubject, call))
    }
    return weightiest(findings)
  },
}

/**
 * Undefined: this round or this spelling of the call is already counted, or the answer is another one.
 */
function countCall(
  memory: Streaks,
  key: string,
  call: CallEvidence,
  round: number,
  spelling = call.key,
): AnswerStreak | undefined {
  const streak = memory.get(key) ?? {
    ...emptyStreak(),
    rounds: 0,
    calls: new Set(),
    lines: noLines,
    words: undefined,
    wording: [],
    reworded: 0,
  }
  const lines = linesOf(call.text)
  const isOther =
    streak.lines.size > 1 && lines.size > 1 && ![...lines].some((line) => streak.lines.has(line))
  streak.lines = lines
  if (isOther) return undefined
  const isReworded = remember(streak.calls, spelling, limits.loopStreaksMax)
  if (!isReworded || streak.round === round) return undefined
  addMatch(streak, call)
  streak.rounds += 1
  touch(memory, key, streak, limits.loopStreaksMax)
  return streak
}

/**
 * The rounds with a word that another one had. The first one counts with the second. The same words
 * for another subject are a batch, and so is the next word in the same place. A statement with a word
 * that no other one had looks for another thing: keys share words, such as the host of an address.
 */
function countWording(
  streak: AnswerStreak,
  { words: wording, about }: Exclude<Wording, string>,
  call: CallEvidence,
): number {
  streak.words ??= new Set()
  const { words, wording: last } = streak
  const subject = about ?? subjectOf(call.value, call.freeText)
  const whole = `${wording.join(' ')} in `
  const isBatch = words.has(whole) ? !words.has(whole + subject) : isNextOf(last, wording, words)
  const isKnown = (word: string) => words.has(word)
  const isReworded = about === undefined ? wording.some(isKnown) : wording.every(isKnown)
  if (!isBatch && wording.length > 0 && isReworded) streak.reworded += streak.reworded === 0 ? 2 : 1
  for (const word of [...wording, whole, whole + subject]) remember(words, word, limits.loopSeenMax)
  streak.wording = wording
  return streak.reworded
}

/** Whether the words are those of the call before, but for one that no call had. */
function isNextOf(last: string[], wording: string[], words: Set<string>): boolean {
  const others = wording.filter((word, at) => word !== last[at])
  return (
    last.length === wording.length && others.length === 1 && others.every((one) => !words.has(one))
  )
}

/** Undefined: this round is already counted. A question that differs in a third of its words is a batch. */
function countQuestion(
  memory: Memory,
  question: Question,
  call: CallEvidence,
  round: number,
): Asked | undefined {
  const { asked } = memory
  if (asked?.round === round) return undefined
  const words = question.words.filter((word) => asked?.words.includes(word))
  const report = question.report.filter((word) => asked?.report.includes(word))
  const isSame =
    asked?.about === question.about &&
    words.length >= 2 &&
    (asked.answer === question.answer || report.length >= 2) &&
    question.names.every((name) => asked.known.has(name))
  const next = isSame
    ? asked
    : { ...emptyStreak(), ...question, rounds: 0, last: question, known: new Set(question.names) }
  const { last } = next
  if (isSame && !differ(question.words, last.words))
    if (question.asked !== last.asked || !differ(question.report, last.report)) return undefined
  if (isSame) Object.assign(asked, { words, report, last: question })
  addMatch(next, call)
  next.rounds += 1
  memory.asked = next
  return next
}

/** In more than a third of the words of one of them. */
function differ(words: string[], others: string[]): boolean {
  const more = (some: string[], than: string[]) =>
    3 * some.filter((word) => !than.includes(word)).length > some.length
  return more(words, others) || more(others, words)
}

/** The first lines of an answer. */
function linesOf(text: string): ReadonlySet<string> {
  const head = text.slice(0, linesCharactersMax)
  if (!head.includes('\n')) return noLines
  return new Set(head.split('\n').filter((line) => line.trim() !== ''))
}

const linesCharactersMax = 2_048
const noLines: ReadonlySet<string> = new Set()

/**
 * The meaning of one answer to different calls of this kind: no evidence, a search without hits, a
 * repeated answer, or a long one of a tool with unknown effect.
 */
function meaningOf({
  failure,
  effect,
  opens,
  poll,
  freeText,
  answer,
}: CallEvidence): 'nothing' | 'empty' | 'answer' | 'page' {
  if (failure !== undefined || poll) return 'nothing'
  if (effect === 'opaque' || opens) return answer.length >= longAnswerMin ? 'page' : 'nothing'
  if (effect !== 'reads') return 'nothing'
  if (isEmptyHanded(answer)) return 'empty'
  return answer.length >= (freeText ? shortAnswerMin : longAnswerMin) ? 'answer' : 'nothing'
}

/**
 * An answer of at least this length is no acknowledgement ("ok", "done", "true"), and of the second
 * length no fact that many subjects share. The second one applies unless the call is one free text.
 */
const shortAnswerMin = 8
const longAnswerMin = 64

function finding(
  streak: Asked | AnswerStreak,
  call: CallEvidence,
  why = texts.sameAnswer,
): Finding {
  return found(streak, {
    key: `${call.tool} → ${call.shown.outcome}`,
    reason: `${call.tool} gave the same answer in ${streak.rounds} rounds with different arguments: ${call.shown.outcome}`,
    text: noProgress(streak.shown, why),
  })
}
