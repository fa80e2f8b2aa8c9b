// `weir judge FILE` checks scenarios, or the conversations of a bundle, against their labels with
// the validator and the loop-detector, offline. Use it in CI, or to try another threshold. Exit
// codes: 0 all as expected or no label, 1 a wrong verdict, 2 trouble.

import { type Bundle, cutTurns } from '../../../shared/bus/bundle/bus.ts'
import { isBundle } from '../../../shared/bus/bundle/open.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { readText } from '../../../shared/settings/text-file.ts'
import { missingBeginning } from '../../history/missing-beginning.ts'
import { type OpenLog, withBundle } from '../../history/open-log.ts'
import { painted } from '../../terminal/paint.ts'
import { createProgress } from '../../terminal/progress.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { conversationsIn, timelinesIn } from './bundle-timelines.ts'
import { givenBy } from './overrides.ts'
import type { Scenario } from './scenario.ts'
import { readScenarios } from './scenario-file.ts'
import { scenarioOf } from './timeline-scenario.ts'
import { type Given, type JudgedScenario, judge } from './verdict.ts'

export type JudgeOptions = { set?: string[]; json?: boolean }

/** A corpus is held in memory as a whole. */
const fileBytesMax = 256 * 1024 * 1024

const judging = { doing: 'judging', what: 'scenario' }

/** Resolves to the exit code. Throws `usage`, `scenario.invalid`, `bundle.*`. */
export async function judgeFile(
  file: string,
  { set = [], json }: JudgeOptions,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const given = givenBy(set)
  const all = isBundle(file)
    ? await withBundle(file, (log) => judgeBundle(log, given))
    : await judgeScenarios(scenariosOf(file), given)
  for (const { verdict, isImported, cut } of all) {
    if (json) out.write(`${printableJson({ ...verdict, cutTurns: cut.map(({ turn }) => turn) })}\n`)
    else
      print(
        verdict,
        [...judgedBy(verdict, { isImported, isSet: set.length > 0 }), ...cutText(cut)],
        out,
      )
  }
  const verdicts = all.map(({ verdict }) => verdict)
  if (!json) printTotals(verdicts, out)
  return verdicts.some(({ ok }) => ok === false) ? 1 : 0
}

/** `cut`: turns without their beginning. */
type Judged = { verdict: JudgedScenario; isImported: boolean; cut: CutTurn[] }

/** `count`: the number of scenarios. */
type Judging = { given: Given; count: number }

/** `cut`: turns of the scenario's conversation without their beginning. */
type Judgeable = { scenario: Scenario; cut: CutTurn[] }

/** `number`: for people. */
type CutTurn = { turn: number; number: number }

async function judgeAll(
  all: AsyncIterable<Judgeable> | Iterable<Judgeable>,
  { given, count }: Judging,
): Promise<Judged[]> {
  const progress = createProgress(process.stderr, systemClock, process.env, judging)
  progress.expect(count)
  const judged: Judged[] = []
  try {
    for await (const { scenario, cut } of all) {
      judged.push({
        verdict: judge(scenario, given),
        isImported: scenario.isImported ?? false,
        cut,
      })
      progress.read(1)
    }
  } finally {
    progress.end()
  }
  return judged
}

/** One scenario for each conversation, without a label. */
function judgeBundle(log: OpenLog, given: Given): Promise<Judged[]> {
  const bundle = log.bundle as Bundle
  const cut = new Map<string, number[]>()
  for (const { conversation, turn } of cutTurns(bundle))
    cut.set(conversation, [...(cut.get(conversation) ?? []), turn])
  async function* judgeable(): AsyncGenerator<Judgeable> {
    for await (const timeline of timelinesIn(log)) {
      const isCut = new Set(cut.get(timeline.conversation))
      yield {
        scenario: scenarioOf(timeline),
        cut: timeline.turns.filter(({ turn }) => isCut.has(turn)),
      }
    }
  }
  return judgeAll(judgeable(), { given, count: conversationsIn(log).size })
}

function judgeScenarios(scenarios: Scenario[], given: Given): Promise<Judged[]> {
  const judgeable = scenarios.map((scenario): Judgeable => ({ scenario, cut: [] }))
  return judgeAll(judgeable, { given, count: scenarios.length })
}

function scenariosOf(file: string): Scenario[] {
  const read = readText(file, fileBytesMax)
  if ('fault' in read) throw usageError(`${file} ${read.fault}`)
  return readScenarios(file, read.text)
}

/** Names the settings that judged a conversation, unless they are the obvious ones. */
function judgedBy(
  { settings }: JudgedScenario,
  { isImported, isSet }: { isImported: boolean; isSet: boolean },
): string[] {
  if (isImported) return [`by Weir's defaults${isSet ? ', but for --set' : ''}`]
  const own = Object.entries(settings ?? {}).map(([key, value]) => `${key}=${value ?? 'none'}`)
  return own.length === 0 ? [] : [`by its own settings: ${own.join(', ')}`]
}

/** A rule may have counted records before the missing part. */
function cutText(turns: CutTurn[]): string[] {
  if (turns.length === 0) return []
  const numbers = turns.map(({ number }) => number).join(', ')
  const which = `${turns.length === 1 ? 'turn' : 'turns'} ${numbers}`
  return [`judged from the middle: ${missingBeginning(which)}, and earlier records do not count`]
}

function print(
  { id, step, rule, action, reason, ok, wrong, shadowed }: JudgedScenario,
  notes: string[],
  out: NodeJS.WriteStream,
): void {
  const judged = ok ? 'ok' : 'WRONG'
  const mark = ok === null ? '-' : judged
  const what = step === null ? 'no intervention' : `step ${step}: ${action} by ${rule}: ${reason}`
  out.write(
    `${painted(out, ok === false ? 'bad' : 'plain', printable(`${mark.padEnd(5)} ${id}  ${what}`))}\n`,
  )
  for (const note of notes) out.write(`${painted(out, 'faint', printable(`      ${note}`))}\n`)
  for (const { step, action, rule, reason } of shadowed)
    out.write(
      `${painted(out, 'faint', printable(`      in shadow, step ${step}: ${action} by ${rule}: ${reason}`))}\n`,
    )
  if (wrong !== '') out.write(`${painted(out, 'bad', `      ${wrong}`)}\n`)
}

function printTotals(verdicts: JudgedScenario[], out: NodeJS.WriteStream): void {
  const labelled = verdicts.filter(({ ok }) => ok !== null)
  const wrong = labelled.filter(({ ok }) => ok === false)
  const alarms = wrong.filter(({ expected }) => expected?.fires === false)
  const summary =
    labelled.length === 0
      ? 'none has a label'
      : `${labelled.length - wrong.length} of ${labelled.length} as expected`
  const missed = wrong.length - alarms.length
  const which =
    wrong.length === 0
      ? ''
      : ` (${missed} missed or late, ${alarms.length} false ${alarms.length === 1 ? 'alarm' : 'alarms'})`
  out.write(
    `${verdicts.length} ${verdicts.length === 1 ? 'scenario' : 'scenarios'}, ${summary}${which}\n`,
  )
}
