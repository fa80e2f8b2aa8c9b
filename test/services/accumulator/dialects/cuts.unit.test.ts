// Every form of every family: cut at each place, without one of its marks, and in any pieces. No
// such text runs a call that the whole text does not have.

import { describe, expect, it } from '@jest/globals'
import { recover } from '../../../../services/accumulator/dialects/recover.ts'
import { accumulator } from '../../../../services/accumulator/reducer.ts'
import type { Declaration, Response } from '../../../../shared/contract/messages.ts'
import { given } from '../../../support/given.ts'
import { event, finished, opened, part } from '../stream.ts'
import { calls, offered } from './offered.ts'
import { texts } from './written.ts'

const marks = /\]<\]minimax\[>\[(?:<[^<>]*>)?|<[^<>]{1,80}>|\[[A-Z_]+\]|```\w*\n?/g

const declarations: Declaration[] = offered.map(({ name, schema }) => ({
  ...{ name, schema, description: '', idempotent: false, timeoutMs: 60_000, poll: false },
  hints: null,
}))

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

describe('a text that was cut', () => {
  it.each(texts)(
    'runs nothing at any place, and nothing if it is whole: $dialect: $text',
    ({ text }) => {
      for (let end = 0; end <= text.length; end += 1) {
        const recovery = recover({ text: text.slice(0, end), offered, cut: 'it was cut' })
        expect(recovery?.kind).not.toBe('calls')
      }
      expect(recover({ text, offered, cut: 'it was cut' })).toMatchObject({ kind: 'lookalike' })
    },
  )

  it.each(texts)(
    'gets a reason from the name of its first tool on: $dialect: $text',
    ({ text, expected }) => {
      const from = text.indexOf(String(expected[0]?.[0]))
      const silent = Array.from({ length: text.length - from }, (_, i) => from + i + 1).filter(
        (end) => recover({ text: text.slice(0, end), offered, cut: 'it was cut' }) === undefined,
      )
      // the rest of the name, and the end of the tag or word that holds it or the next name
      expect(silent.length).toBeLessThanOrEqual(16)
    },
  )

  it.each(texts)('at its beginning runs no other call: $dialect: $text', ({ text, expected }) => {
    for (let from = 1; from < text.length; from += 1)
      for (const call of calls(text.slice(from)) ?? []) expect(expected).toContainEqual(call)
  })
})

describe('a text without one of its marks', () => {
  it.each(texts)('runs no other call: $dialect: $text', ({ text, expected }) => {
    for (const { 0: mark, index } of text.matchAll(marks)) {
      const without = text.slice(0, index) + text.slice(index + mark.length)
      for (const call of calls(without) ?? []) expect(expected).toContainEqual(call)
    }
  })
})

describe('a text in pieces', () => {
  it.each(texts)(
    'is the same for every place of the division: $dialect: $text',
    ({ text, expected }) => {
      const whole = responseOf([text])
      expect(whole.calls.map(({ name, raw }) => [name, JSON.parse(raw)])).toEqual(expected)
      expect(responseOf([...text])).toEqual(whole)
      for (let at = 1; at < text.length; at += 1)
        expect(responseOf([text.slice(0, at), text.slice(at)])).toEqual(whole)
    },
  )
})
