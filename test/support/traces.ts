// The traces of the corpora as transcripts, for tests that compare several ways to judge one trace.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { givenBy } from '../../apps/replay/judge/overrides.ts'
import { play } from '../../apps/replay/judge/play.ts'
import type { Scenario, SilentStep, Step, ToolStep } from '../../apps/replay/judge/scenario.ts'
import { readScenarios } from '../../apps/replay/judge/scenario-file.ts'
import { type JudgedScenario, judge, policyIn } from '../../apps/replay/judge/verdict.ts'
import type { Declaration } from '../../shared/contract/messages.ts'
import { createLeftOut } from '../../shared/transcript/left-out.ts'
import { type Piece, type Transcript, transcriptOf } from '../../shared/transcript/transcript.ts'
import { declarationWith } from './messages.ts'

const corpus = new URL('../corpus/', import.meta.url)
const shared = new URL('../../../shared/fixtures/loop-scenarios.jsonl', import.meta.url)

/** The files of scenarios: those of the tree, and the shared ones if they are there. */
export const corpora: readonly { name: string; url: URL }[] = [
  ...readdirSync(corpus)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ name, url: new URL(name, corpus) })),
  ...(existsSync(shared) ? [{ name: 'loop-scenarios.jsonl', url: shared }] : []),
]

export const given = givenBy([])

/** The step, counted without messages of users, and the rule with its version. */
export type Verdict = { at: number; rule: string | null } | 'silent'

/** A trace that only a scenario can express, with the reason. Undefined: it has all three forms. */
function onlyScenario({ steps, limits }: Scenario): string | undefined {
  if (limits !== undefined) return 'it has caps'
  if (steps.some(({ kind }) => kind === 'stream_retry')) return 'a broken stream is no transcript'
  if (steps.some((step) => 'call_id' in step)) return 'a repeated delivery is no transcript'
  if (steps.some((step) => step.session !== undefined)) return 'it has several sessions'
  if (steps.some((step) => step.kind === 'tool' && step.result === 'rejected'))
    return 'a timeline has no schemas, so its rejected calls are plain failures'
  const goesOn = steps.some(
    ({ kind }, at) => kind === 'text' && !['user', undefined].includes(steps[at + 1]?.kind),
  )
  return goesOn ? 'a text ends a turn of Weir' : undefined
}

type Traces = { all: readonly Scenario[]; traces: readonly Scenario[] }

/** By corpus. */
const readTraces = new Map<string, Traces>()

export function tracesIn({ name, url }: (typeof corpora)[number]): Traces {
  const readBefore = readTraces.get(url.href)
  if (readBefore !== undefined) return readBefore
  const all = readScenarios(name, readFileSync(url, 'utf8'))
  const traces = all.filter((scenario) => onlyScenario(scenario) === undefined)
  readTraces.set(url.href, { all, traces })
  return { all, traces }
}

/** The pieces of a foreign log. Its first message of a user is made up. */
function piecesOf(steps: Step[]): Piece[] {
  const where = 'corpus'
  const pieces: Piece[] = [{ kind: 'user', text: 'Begin.' }]
  let response = 0
  for (const [at, step] of steps.entries()) {
    const before = steps[at - 1]
    const isSibling =
      step.kind === 'tool' &&
      before?.kind === 'tool' &&
      step.turn !== undefined &&
      before.turn === step.turn
    if (step.kind === 'user') pieces.push({ kind: 'user', text: 'Go on.' })
    if (!isResponse(step)) continue
    if (!isSibling) response += 1
    pieces.push({ kind: 'response', id: `response ${response}` })
    if (step.kind === 'tool') {
      const id = `call ${at}`
      const { tool: name, result: text, outcome } = step
      pieces.push({ kind: 'call', id, name, arguments: rawOf(step) })
      pieces.push({ kind: 'result', id, text, isError: outcome === 'error', where })
      continue
    }
    if (step.kind === 'text') pieces.push({ kind: 'text', text: step.text ?? '' })
    if (step.kind === 'thinking_only')
      pieces.push({ kind: 'reasoning', block: { type: 'thinking', thinking: 'Hm.' } })
    pieces.push({ kind: 'ended', usage: undefined, finish: step.finish ?? 'stop' })
  }
  return pieces
}

function rawOf({ args, raw_args }: ToolStep): string {
  return raw_args ?? (typeof args._raw === 'string' ? args._raw : JSON.stringify(args))
}

function declarationsOf({ steps, tools, tool_hints: hints = {} }: Scenario): Declaration[] {
  const called = steps.flatMap((step) => (step.kind === 'tool' ? [step.tool] : []))
  const named = tools ?? [...new Set(called)].map((name) => ({ name, schema: { type: 'object' } }))
  return named.map(({ name, schema }) => {
    const { poll = false, mutates = null, ignoreFields, ignore_args, loopKey } = hints[name] ?? {}
    const ignored = [...(ignoreFields ?? []), ...(ignore_args ?? [])]
    return declarationWith({
      name,
      schema: JSON.stringify(schema),
      timeoutMs: 60_000,
      poll,
      hints: {
        mutates,
        ignoreFields: ignored,
        loopKey: loopKey ?? [],
        denial: null,
        labels: [],
        client: false,
        once: null,
      },
    })
  })
}

export function transcriptFor(scenario: Scenario): Transcript {
  const read = { pieces: piecesOf(scenario.steps), tools: declarationsOf(scenario) }
  return transcriptOf('corpus', scenario.id, read, createLeftOut())
}

/** Without messages of users, because an imported conversation has one more. */
function placeOf(steps: Step[], step: number): number {
  return steps.slice(0, step).filter(isResponse).length
}

function isResponse(step: Step): step is ToolStep | SilentStep {
  const { kind } = step
  return kind !== 'user' && kind !== 'compaction' && kind !== 'stream_retry'
}

export function judged(scenario: Scenario): Verdict {
  return verdictIn(scenario, judge(scenario, given))
}

/** `judged`: the answer of `judge` for this scenario. */
export function verdictIn(scenario: Scenario, { step, rule }: JudgedScenario): Verdict {
  return step === null ? 'silent' : { at: placeOf(scenario.steps, step), rule }
}

/** An intervention. `at`: the step, counted without messages of users. `rule`: with its version. */
export type IntervenedAt = { at: number; rule: string; action: string }

/** All interventions of `weir judge`, in order: the trace goes on after each as it was recorded. */
export function allJudged(scenario: Scenario): IntervenedAt[] {
  return play(scenario, policyIn(scenario, given), given.caps).flatMap((raised) => {
    if ('cap' in raised || raised.shadow) return []
    const { rule, ruleVersion, action } = raised.intervention
    const at = placeOf(scenario.steps, raised.step)
    return [{ at, rule: `${rule}@${ruleVersion}`, action }]
  })
}
