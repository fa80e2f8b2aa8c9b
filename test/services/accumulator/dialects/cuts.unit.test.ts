// Every form of every family: cut at each place, without one of its marks, and in any pieces. No
// such text runs a call that the whole text does not have.

import { describe, expect, it } from '@jest/globals'
import { recover } from '../../../../services/accumulator/dialects/recover.ts'
import { accumulator } from '../../../../services/accumulator/reducer.ts'
import type { Declaration, Response } from '../../../../shared/contract/messages.ts'
import { given } from '../../../support/given.ts'
import { declarationWith } from '../../../support/messages.ts'
import { event, finished, opened, part } from '../stream.ts'
import { calls, offered } from './offered.ts'
import { texts } from './written.ts'

const marks = /\]<\]minimax\[>\[(?:<[^<>]*>)?|<[^<>]{1,80}>|\[[A-Z_]+\]|```\w*\n?/g

const declarations: Declaration[] = offered.map(({ name, schema }) =>
  declarationWith({ name, schema, timeoutMs: 60_000 }),
)

function responseOf(pieces: string[]): Response {
  const end = finished({ stop: 'end', finish: 'stop', declarations })
  const names = offered.map(({ name }) => name)
  const events = pieces.map((piece) => event('text', piece))
  const [record] = given(accumulator, { ...opened(), offered: names }, part(0, ...events), end).to(
    'next',
  )
  if (record?.type !== 'round-proposed') throw new Error('no round was proposed')
  return record.response
}

/** All places in a text, from 1 on. */
const placesOf = (text: string) => Array.from({ length: text.length }, (_, i) => i + 1)
const cutAt = (text: string, end: number) =>
  recover({ text: text.slice(0, end), offered, cut: 'it was cut' })

describe('a text that was cut', () => {
  it.each(texts)(
    'runs nothing at any place, and nothing if it is whole: $dialect: $text',
    ({ text }) => {
      expect(placesOf(text).filter((end) => cutAt(text, end)?.kind === 'calls')).toEqual([])
      expect(cutAt(text, text.length)).toMatchObject({ kind: 'lookalike' })
    },
  )

  it.each(texts)(
    'gets a reason from the name of its first tool on: $dialect: $text',
    ({ text, expected }) => {
      const from = text.indexOf(String(expected[0]?.[0]))
      const silent = placesOf(text).filter((end) => end > from && cutAt(text, end) === undefined)
      // the rest of the name, and the end of the tag or word that holds it or the next name
      expect(silent.length).toBeLessThanOrEqual(16)
    },
  )

  it.each(texts)('at its beginning runs no other call: $dialect: $text', ({ text, expected }) => {
    expect(placesOf(text).flatMap((from) => othersThan(expected, text.slice(from)))).toEqual([])
  })
})

describe('a text without one of its marks', () => {
  it.each(texts)('runs no other call: $dialect: $text', ({ text, expected }) => {
    const damaged = [...text.matchAll(marks)].map(
      ({ 0: mark, index }) => text.slice(0, index) + text.slice(index + mark.length),
    )
    expect(damaged.flatMap((without) => othersThan(expected, without))).toEqual([])
  })
})

describe('a text in pieces', () => {
  it.each(texts)(
    'is the same for every place of the division: $dialect: $text',
    ({ text, expected }) => {
      const whole = responseOf([text])
      expect(whole.calls.map(({ name, raw }) => [name, JSON.parse(raw)])).toEqual(expected)
      const spelled = JSON.stringify(whole)
      const differs = (pieces: string[]) => JSON.stringify(responseOf(pieces)) !== spelled
      expect(differs([...text])).toBe(false)
      const inTwo = (at: number) => [text.slice(0, at), text.slice(at)]
      expect(placesOf(text).filter((at) => at < text.length && differs(inTwo(at)))).toEqual([])
    },
  )
})

/** The calls that a text runs and that are not expected. */
function othersThan(expected: [string, unknown][], text: string): [string, unknown][] {
  const known = expected.map((call) => JSON.stringify(call))
  return (calls(text) ?? []).filter((call) => !known.includes(JSON.stringify(call)))
}
