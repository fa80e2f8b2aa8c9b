// The corpus of arguments: each text, as a model sent it, runs in exactly the expected bytes, is
// refused with the expected reason, or stays text. Each case passes the accumulator, the validator,
// and the loop-detector's fingerprints.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { accumulator } from '../../../services/accumulator/reducer.ts'
import { defaultPolicy } from '../../../shared/agents/policy/policy.ts'
import { argumentText } from '../../../shared/contract/call/call.ts'
import { readArguments } from '../../../shared/contract/identity/arguments.ts'
import type {
  Declaration,
  GuardedTools,
  PartEvent,
  RoundChecked,
  Stop,
} from '../../../shared/contract/messages.ts'
import { given } from '../../support/given.ts'
import { callStart, event, finished, opened, part } from '../accumulator/stream.ts'
import { checked, tool } from './round.ts'

type Expected =
  | { runs: string; how: string[] }
  | { refused: string; reason: string }
  | { unread: string }
  | { text: true }

/** `sent`: an argument text, or with `text` a whole visible text. `why`: for people. */
type Case = {
  id: string
  why: string
  tool?: string
  sent: string
  text?: true
  stop?: Stop
  guards?: { name: string; tools: GuardedTools[]; rules: string | null }[]
  expect: Expected
}

const folder = new URL('../../corpus/arguments/', import.meta.url)
const schemas: Record<string, unknown> = JSON.parse(
  readFileSync(new URL('tools.json', folder), 'utf8'),
)
const declarations: Declaration[] = Object.entries(schemas).map(([name, schema]) =>
  tool(name, schema),
)
const corpus = readdirSync(folder)
  .filter((file) => file.endsWith('.jsonl'))
  .map((file) => ({
    file,
    cases: readFileSync(new URL(file, folder), 'utf8')
      .trim()
      .split('\n')
      .map((line): Case => JSON.parse(line)),
  }))

function roundOf({ tool: name, sent, text, stop, guards = [] }: Case): RoundChecked {
  const events: PartEvent[] = text
    ? [event('text', sent)]
    : [callStart({ name: name ?? '' }), event('call_arguments', sent), event('call_end')]
  const policy = {
    ...defaultPolicy,
    guards: guards.map((guard) => ({
      ...guard,
      version: '1',
      deadlineMs: 1_000,
      onTimeout: 'deny' as const,
    })),
  }
  const [record] = given(
    accumulator,
    opened({ offered: Object.keys(schemas) }),
    part(0, ...events),
    finished({ declarations, policy, stop: stop ?? (text ? 'end' : 'calls') }),
  ).to('next')
  if (record?.type !== 'round-proposed') throw new Error('no round was proposed')
  return checked(record)
}

function outcomeOf({ response, denials }: RoundChecked): Expected {
  const [call] = response.calls
  const [denial] = denials
  if (denial !== undefined) return { refused: denial.code, reason: denial.reason }
  if (call !== undefined)
    return {
      runs: argumentText(call),
      how: [...(response.textCalls?.repairs ?? []), ...(call.repair?.how ?? [])],
    }
  const fault = response.textCalls?.fault ?? null
  return fault === null ? { text: true } : { unread: fault }
}

describe.each(corpus)('arguments: $file', ({ cases }) => {
  it.each(cases.map((one) => [one.id, one] as const))('%s', (_, one) => {
    const { expect: expected } = one
    const matching =
      'refused' in expected
        ? { ...expected, reason: expect.stringContaining(expected.reason) }
        : 'unread' in expected
          ? { unread: expect.stringContaining(expected.unread) }
          : expected
    expect(outcomeOf(roundOf(one))).toEqual(matching)
  })
})

describe('the corpus of arguments', () => {
  const all = corpus.flatMap(({ cases }) => cases)
  const repaired = all.filter((one) => 'runs' in one.expect && !one.text && one.expect.how.length)

  it.each(repaired.map((one) => [one.id, one] as const))(
    'keeps the sent text of %s on record',
    (_, one) => {
      const [call] = roundOf(one).response.calls
      expect(call?.repair?.sent).toBe(one.sent)
    },
  )
})

describe('the loop-detector', () => {
  const keyOf = (one: Case) => {
    const [call] = roundOf(one).response.calls
    return call && readArguments(call.raw).canonical
  }
  const casesOf = (file: string) => corpus.find((one) => one.file === file)?.cases ?? []

  it('sees one call in every spelling of no arguments, whether it runs or not', () => {
    const nothing = casesOf('nothing.jsonl').filter(
      ({ expect: expected, text }) =>
        !text &&
        ('runs' in expected ||
          ('refused' in expected && ['no_arguments', 'schema'].includes(expected.refused))),
    )
    expect(nothing.length).toBeGreaterThan(30)
    expect(new Set(nothing.map(keyOf))).toEqual(new Set(['{}']))
  })

  it('sees the call that runs, not the text that was decoded', () => {
    const decoded = casesOf('encoded.jsonl').filter(
      ({ expect: expected }) => 'runs' in expected && expected.how.length > 0,
    )
    expect(decoded.length).toBeGreaterThan(10)
    for (const one of decoded)
      expect(keyOf(one)).toBe(readArguments('runs' in one.expect ? one.expect.runs : '').canonical)
  })
})

describe('a text of the corpus that is cut anywhere', () => {
  const running = corpus.flatMap(({ cases }) => cases.filter((one) => 'runs' in one.expect))
  const ranBytes = (one: Case) => {
    const found = outcomeOf(roundOf(one))
    return 'runs' in found ? found.runs : undefined
  }
  const beginnings = ({ sent }: Case) =>
    Array.from({ length: sent.length }, (_, end) => sent.slice(0, end))

  it('never runs if the response was cut', () => {
    for (const one of running)
      for (const sent of beginnings(one))
        expect([one.id, sent, ranBytes({ ...one, sent, stop: 'length' })]).toEqual([
          one.id,
          sent,
          undefined,
        ])
  })

  it('runs as the whole does, or not at all, if the server calls the response whole', () => {
    for (const one of running)
      for (const sent of beginnings(one)) {
        if (sent.trim() === '') continue // a whole call without arguments
        const bytes = ranBytes({ ...one, sent })
        const whole = 'runs' in one.expect ? one.expect.runs : undefined
        if (bytes !== undefined && bytes.trim() !== whole?.trim())
          expect([one.id, sent, bytes]).toEqual([one.id, sent, undefined])
      }
  })
})
