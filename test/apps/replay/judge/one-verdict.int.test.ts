// One trace has one verdict: as a scenario of `weir judge`, as an imported transcript, and in the
// live stages with the default settings.
//
// The live course plays all stages. The recorded model and the recorded tools act as performers,
// and each result is the one that the executor makes of a program with that output.

import { describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../../apps/history/inspect/timeline-of.ts'
import type { Scenario } from '../../../../apps/replay/judge/scenario.ts'
import { scenarioOf } from '../../../../apps/replay/judge/timeline-scenario.ts'
import { judge } from '../../../../apps/replay/judge/verdict.ts'
import { madeUpSettings } from '../../../../apps/transcripts/made-up-settings.ts'
import {
  createTranscriptPlayer,
  type Ending,
  type TranscriptPlayerOptions,
} from '../../../../apps/transcripts/played.ts'
import { defaultPolicy, policyOf } from '../../../../shared/agents/policy/policy.ts'
import { decode } from '../../../../shared/codec/codec.ts'
import { commandEnding } from '../../../../shared/tools/command/command-ending.ts'
import type { Logged } from '../../../../shared/view/logged.ts'
import {
  corpora,
  given,
  judged,
  tracesIn,
  transcriptFor,
  type Verdict,
  verdictIn,
} from '../../../support/traces.ts'

async function recordsOf(
  scenario: Scenario,
  options: Partial<TranscriptPlayerOptions> = {},
): Promise<Logged[]> {
  const pause = async () => {}
  const player = createTranscriptPlayer({ topicPrefix: '', startAt: 1, pause, ...options })
  const { records } = await player.play(transcriptFor(scenario))
  return records.map((record) => ({ ...record, message: decode(record.value as Uint8Array) }))
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
    text,
    bytes: Buffer.byteLength(text),
    cut: false,
    replaced: false,
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
    const read = corpora.map(tracesIn)
    expect(read.flatMap(({ traces }) => traces).length).toBeGreaterThan(
      0.94 * read.flatMap(({ all }) => all).length,
    )
  })

  it.each(corpora)('has one verdict in weir judge, in an import and live: $name', async (file) => {
    const differing: string[] = []
    for (const whole of tracesIn(file).traces) {
      const verdict = judge({ ...whole, isImported: true }, given)
      const { step } = verdict
      // The verdict is about the first intervention, so the rest of the trace only takes time.
      const scenario = step === null ? whole : { ...whole, steps: whole.steps.slice(0, step) }
      const [one, two, three] = [
        verdictIn(whole, verdict),
        await imported(scenario),
        await live(scenario),
      ]
      const all = [one, two, three].map((verdict) => JSON.stringify(verdict))
      if (new Set(all).size > 1) differing.push(`${whole.id}: ${all.join(' ')}`)
    }
    expect(differing).toEqual([])
  })
})
