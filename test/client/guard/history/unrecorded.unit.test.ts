// The stand-ins of `record: 'calls'`, and the loops that the detector finds with them.

import { describe, expect, it } from '@jest/globals'
import type { Scenario, Step } from '../../../../apps/replay/judge/scenario.ts'
import { resultOfCalls, textStandIn } from '../../../../client/guard/history/unrecorded.ts'
import { errorOf } from '../../../../services/loop-detector/evidence/error-text.ts'
import { progressOf } from '../../../../services/loop-detector/waiting/waiting-answer.ts'
import { errorLine } from '../../../../shared/contract/call/error-line.ts'
import { guestConversation } from '../../../../shared/contract/topology.ts'
import { allJudged, corpora, tracesIn } from '../../../support/traces.ts'

const conversation = guestConversation('coder', 'thread')
const textOf = (text: string, status: 'ok' | 'error' = 'error') =>
  resultOfCalls(conversation, {
    key: '',
    callId: '',
    nth: 0,
    status,
    text,
    shown: null,
    durationMs: 0,
  }).text

describe('a text that is not recorded', () => {
  it('has a stand-in that shows nothing of it', () => {
    expect(textStandIn(conversation, 'The key is hunter2.')).toMatch(
      /^\[not recorded: [a-p]{16}\]$/,
    )
    expect(textOf('EACCES: cannot open /home/ada')).not.toMatch(/ada|home|EACCES/)
    expect(textOf('{"exitCode":1,"stdout":"ada"}')).not.toContain('ada')
  })

  it('stays blank if it is blank', () => {
    expect([textStandIn(conversation, ' \n'), textOf('', 'ok'), textOf('')]).toEqual(['', '', ''])
  })

  it('has the stand-in of a text that differs in its clock only, in this conversation only', () => {
    const at = (second: number) => `3 files, read at 12:00:${second}`
    expect(textOf(at(10), 'ok')).toBe(textOf(at(20), 'ok'))
    expect(textOf('4 files', 'ok')).not.toBe(textOf('3 files', 'ok'))
    const other = guestConversation('coder', 'other')
    expect(textStandIn(other, 'a')).not.toBe(textStandIn(conversation, 'a'))
  })

  it.each([
    ['shape', "missing required field 'command'"],
    ['unknown_tool', 'unknown tool: exce'],
    ['denied', 'EACCES: no'],
    ['miss', 'ENOENT: a.ts'],
    ['transient', 'HTTP 503: come back'],
    ['other', 'KeyError: name'],
    ['bare', 'exit code 2'],
    ['bare', '{"exitCode":2}'],
  ])('keeps the kind of a failure: %s', (kind, text) => {
    const kindOf = (of: string) =>
      errorOf({ status: 'error', reason: errorLine(of) ?? '', text: of }).kind
    expect([kindOf(text), kindOf(textOf(text))]).toEqual([kind, kind])
  })
})

describe('the answer of a look without its text', () => {
  const progressIn = (text: string) => progressOf(text, false)
  it.each([
    ['running', '{"job_id":"j-12","status":"running"}'],
    ['running', 'Agent a1 is still running.'],
    ['over', '{"id":12,"status":"failed","error":"disk full"}'],
    ['over', 'Job 12 was cancelled.'],
    ['empty', '(no output)'],
    ['other', 'text of a'],
    ['other', 'Process exited with code 0'],
  ])('states its progress, if it has one for any call: %s', (progress, text) => {
    expect(progressIn(textOf(text, 'ok'))).toBe(progress)
    expect(textOf(text, 'ok')).not.toMatch(/j-12|a1|disk|12|text of a/)
  })
})

describe('the traces of the corpora without their texts', () => {
  it('have an intervention only where they have one with their texts, and no earlier one', () => {
    let [found, kept] = [0, 0]
    const disturbed = corpora.flatMap((file) =>
      tracesIn(file).traces.flatMap((scenario) => {
        const [first] = allJudged(scenario)
        const [own] = allJudged(withoutTexts(scenario))
        if (first !== undefined) found += 1
        if (own === undefined) return []
        kept += 1
        return first === undefined || own.at < first.at ? [`${file.name} ${scenario.id}`] : []
      }),
    )
    expect(disturbed).toEqual([])
    expect(kept / found).toBeGreaterThan(0.8)
  })
})

function withoutTexts(scenario: Scenario): Scenario {
  return { ...scenario, steps: scenario.steps.map(withoutText) }
}

function withoutText(step: Step): Step {
  if (step.kind === 'text') return { ...step, text: textStandIn(conversation, step.text ?? '') }
  if (step.kind !== 'tool') return step
  return { ...step, result: textOf(step.result, step.outcome === 'error' ? 'error' : 'ok') }
}
