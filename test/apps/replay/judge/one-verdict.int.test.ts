// One trace has one verdict: as a scenario of `weir judge`, as an imported transcript, and in the
// live stages with the default settings.
//
// The live course plays all stages. The recorded model and the recorded tools act as performers,
// and each result is the one that the executor makes of a program with that output.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import type { Logged } from '../../../../apps/history/inspect/logged.ts'
import { timelineOf } from '../../../../apps/history/inspect/timeline-of.ts'
import { givenBy } from '../../../../apps/replay/judge/overrides.ts'
import type {
  Scenario,
  SilentStep,
  Step,
  ToolStep,
} from '../../../../apps/replay/judge/scenario.ts'
import { readScenarios } from '../../../../apps/replay/judge/scenario-file.ts'
import { scenarioOf } from '../../../../apps/replay/judge/timeline-scenario.ts'
import { judge } from '../../../../apps/replay/judge/verdict.ts'
import { madeUpSettings } from '../../../../apps/transcripts/made-up-settings.ts'
import {
  createTranscriptPlayer,
  type Ending,
  type TranscriptPlayerOptions,
} from '../../../../apps/transcripts/played.ts'
import { commandEnding } from '../../../../services/executor/tools/command-ending.ts'
import { defaultPolicy, policyOf } from '../../../../shared/agents/agents.ts'
import { decode } from '../../../../shared/codec/codec.ts'
import type { Declaration } from '../../../../shared/contract/messages.ts'
import { createLeftOut } from '../../../../shared/transcript/left-out.ts'
import {
  type Piece,
  type Transcript,
  transcriptOf,
} from '../../../../shared/transcript/transcript.ts'

const folder = new URL('../../../corpus/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
const given = givenBy([])

/** The step, counted without messages of users, and the rule with its version. */
type Verdict = { at: number; rule: string | null } | 'silent'

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

function tracesIn(file: string): { all: Scenario[]; traces: Scenario[] } {
  const all = readScenarios(file, readFileSync(new URL(file, folder), 'utf8'))
  return { all, traces: all.filter((scenario) => onlyScenario(scenario) === undefined) }
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
    return {
      ...{ name, description: '', schema: JSON.stringify(schema), idempotent: false },
      ...{ timeoutMs: 60_000, poll },
      hints: { mutates, ignoreFields: ignored, loopKey: loopKey ?? [], refusal: null },
    }
  })
}

function transcriptFor(scenario: Scenario): Transcript {
  const read = { pieces: piecesOf(scenario.steps), tools: declarationsOf(scenario) }
  return transcriptOf('corpus', scenario.id, read, createLeftOut())
}

async function recordsOf(
  scenario: Scenario,
  options: Partial<TranscriptPlayerOptions> = {},
): Promise<Logged[]> {
  const pause = async () => {}
  const player = createTranscriptPlayer({ topicPrefix: '', startAt: 1, pause, ...options })
  const { records } = await player.play(transcriptFor(scenario))
  return records.map((record) => ({ ...record, message: decode(record.value as Uint8Array) }))
}

/** Without messages of users, because an imported conversation has one more. */
function placeOf(steps: Step[], step: number): number {
  return steps.slice(0, step).filter(isResponse).length
}

function isResponse(step: Step): step is ToolStep | SilentStep {
  const { kind } = step
  return kind !== 'user' && kind !== 'compaction' && kind !== 'stream_retry'
}

function judged(scenario: Scenario): Verdict {
  const { step, rule } = judge(scenario, given)
  return step === null ? 'silent' : { at: placeOf(scenario.steps, step), rule }
}

async function imported(scenario: Scenario): Promise<Verdict> {
  const timeline = timelineOf(scenario.id, await recordsOf(scenario), { reasoning: true })
  return judged(scenarioOf(timeline))
}

async function live(scenario: Scenario): Promise<Verdict> {
  const { caps } = madeUpSettings.policy
  const settings = { ...madeUpSettings, policy: policyOf({ ...defaultPolicy, caps }) }
  let responses = 0
  for (const { message } of await recordsOf(scenario, { settings, ending })) {
    if (message?.type !== 'round-outcome') continue
    const { response, intervention } = message
    responses += Math.max(1, response.calls.length)
    if (intervention === null || intervention.ordinary) continue
    return { at: responses, rule: `${intervention.rule}@${intervention.ruleVersion}` }
  }
  return 'silent'
}

/** The result of a program that writes this. */
const ending: Ending = (text, isError) => {
  const written = (text: string) => ({
    ...{ text, bytes: Buffer.byteLength(text), cut: false, replaced: false },
  })
  return commandEnding({
    cause: { kind: 'itself' },
    exit: { code: isError ? 1 : 0, signal: null },
    stdout: written(isError ? '' : text),
    stderr: written(isError ? text : ''),
  })
}

describe('one trace', () => {
  it('has three forms in nearly all cases', () => {
    const read = files.map(tracesIn)
    expect(read.flatMap(({ traces }) => traces).length).toBeGreaterThan(
      0.94 * read.flatMap(({ all }) => all).length,
    )
  })

  it.each(files)('has one verdict in weir judge, in an import and live: %s', async (file) => {
    const differing: string[] = []
    for (const whole of tracesIn(file).traces) {
      const { step } = judge(whole, given)
      // The verdict is about the first intervention, so the rest of the trace only takes time.
      const scenario = step === null ? whole : { ...whole, steps: whole.steps.slice(0, step) }
      const [one, two, three] = [judged(whole), await imported(scenario), await live(scenario)]
      const all = [one, two, three].map((verdict) => JSON.stringify(verdict))
      if (new Set(all).size > 1) differing.push(`${whole.id}: ${all.join(' ')}`)
    }
    expect(differing).toEqual([])
  })
})
