// The two laws of a format for requests. A history that is printed and read again is the same history.
// A recorded request that is read, printed and read again says the same, and any list of messages
// becomes a request that its provider accepts.

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { responseOf } from '../../../client/guard/history/history.ts'
import type { ModelCall } from '../../../client/testing/anthropic-stream.ts'
import type { Agent } from '../../../shared/agents/agents.ts'
import type { HistoryEntry } from '../../../shared/contract/messages.ts'
import { goOn, unknownResult } from '../../../shared/model-texts/requests.ts'
import { createLeftOut } from '../../../shared/transcript/left-out.ts'
import {
  type Transcript,
  type TranscriptTurn,
  turnsOf,
} from '../../../shared/transcript/transcript.ts'
import type { Json } from '../../../shared/wire/format.ts'
import { apiFormats, wholeFormat } from '../../../shared/wire/formats.ts'
import { usableName } from '../../../shared/wire/request/utterances.ts'
import { type RecordedCase, wholeRequests } from '../../hosts/recorded-case.ts'
import { agentOf, modelSays, result, userSays } from '../../services/llm-gateway/samples.ts'
import { corpora, tracesIn, transcriptFor } from '../../support/traces.ts'
import { chatFault, requestFault } from '../../support/valid-request.ts'

const modelFormats = await Promise.all(apiFormats.map((format) => wholeFormat(format)))

type Format = (typeof modelFormats)[number]

const leftOut = createLeftOut()

function turnsIn({ transcript }: Format, body: unknown): TranscriptTurn[] {
  return turnsOf('x', transcript.read({ request: body, answer: undefined }, 'x').pieces, leftOut)
}

function entriesOf(turns: readonly TranscriptTurn[]): HistoryEntry[] {
  return turns.flatMap(({ user, responses }, turn): HistoryEntry[] => [
    userSays(user, { turn }),
    ...responses.map((spoken, n) => {
      const response = responseOf(spoken, 'attempt')
      const results = spoken.calls.flatMap(({ result: ended }, ordinal) =>
        typeof ended === 'object'
          ? [result({ ordinal, status: ended.isError ? 'error' : 'ok', text: ended.text })]
          : [],
      )
      return modelSays(response, { turn, round: n + 1, results })
    }),
  ])
}

function written({ name, write }: Format, turns: readonly TranscriptTurn[], rebuilt = false): Json {
  const agent: Agent = agentOf({}, { provider: name })
  const history = entriesOf(turns)
  const asked = { nudge: null, tools: [], textOnly: false, rebuilt, history }
  return JSON.parse(JSON.stringify(write(agent, asked)))
}

/**
 * The content of a history: texts, and calls with arguments and results. The formats of OpenAI have no
 * mark of a failed result.
 */
function said(turns: readonly TranscriptTurn[]): unknown[] {
  const all = turns.flatMap(({ user, responses }) => [
    user,
    ...responses.flatMap(({ text, calls }) => {
      const shown = text.trim() === '' ? '' : text
      const called = calls.map(({ name, arguments: args, result: ended }) => [
        usableName(name, 64),
        inputOf(args),
        typeof ended === 'object' ? ended.text : unknownResult,
      ])
      return shown === '' && called.length === 0 ? [] : [[shown, ...called]]
    }),
  ])
  // The provider needs a last message of the user.
  return all.at(-1) === goOn ? all.slice(0, -1) : all
}

/** A request shows arguments that are no object as `{}`. */
function inputOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

/** A text of the user directly after results is no new question in all formats. */
const endsTurns = ({ turns }: Transcript) =>
  turns.slice(0, -1).every(({ responses }) => responses.at(-1)?.calls.length === 0)

const traces = corpora
  .flatMap((corpus) => tracesIn(corpus).traces.map(transcriptFor))
  .filter(endsTurns)
const cases = new URL('../../hosts/recorded/cases/', import.meta.url)
const recorded = readdirSync(cases).map(
  (file): RecordedCase => JSON.parse(readFileSync(new URL(file, cases), 'utf8')),
)

describe.each(modelFormats.map((format) => [format.name, format] as const))(
  '%s',
  (name, format) => {
    it('has the same history if it is printed and read', () => {
      expect(traces.length).toBeGreaterThan(100)
      for (const { turns } of traces)
        expect(said(turnsIn(format, written(format, turns)))).toEqual(said(turns))
    })

    it('says the same if a recorded request is read, printed and read', () => {
      const requests = recorded
        .flatMap(wholeRequests)
        .filter(({ path }) =>
          format.request.routes.some(({ end }) => path.split('?')[0]?.endsWith(end)),
        )
      for (const { body } of requests) {
        const turns = turnsIn(format, body)
        expect(said(turnsIn(format, written(format, turns)))).toEqual(said(turns))
      }
      if (name !== 'gemini') expect(requests.length).toBeGreaterThan(5)
    })
  },
)

const text = fc.constantFrom('', ' ', 'hi', 'so')
const id = fc.constantFrom('a', 'b', 'call_0', 'x.y', 'abcdefghi')
const block = fc.oneof(
  text.map((one) => ({ type: 'text', text: one })),
  id.map((one) => ({ type: 'tool_use', id: one, name: 'read', input: {} })),
)
const answer = fc.oneof(
  text.map((one) => ({ type: 'text', text: one })),
  id.map((one) => ({ type: 'tool_result', tool_use_id: one, content: 'done' })),
)
const lists: Record<string, fc.Arbitrary<unknown[]>> = {
  anthropic: fc.array(
    fc.oneof(
      fc.array(answer, { maxLength: 4 }).map((content) => ({ role: 'user', content })),
      fc.array(block, { maxLength: 4 }).map((content) => ({ role: 'assistant', content })),
    ),
    { maxLength: 10 },
  ),
  'openai-chat': fc.array(
    fc.oneof(
      fc
        .tuple(fc.constantFrom('user', 'system', 'assistant'), text)
        .map(([role, content]) => ({ role, content })),
      fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => ({
        role: 'assistant',
        content: null,
        tool_calls: ids.map((one) => ({
          id: one,
          type: 'function',
          function: { name: 'read', arguments: '{}' },
        })),
      })),
      id.map((one) => ({ role: 'tool', tool_call_id: one, content: 'done' })),
    ),
    { maxLength: 12 },
  ),
}

describe.each(modelFormats.filter(({ name }) => name in lists))('$name', (format) => {
  it('has a valid request for any list of messages, with lost, doubled and strange parts', () => {
    fc.assert(
      fc.property(lists[format.name] ?? fc.constant([]), (messages) => {
        const body = written(format, turnsIn(format, { messages }), true)
        const sent = body.messages as Parameters<typeof chatFault>[0]
        const fault =
          format.name === 'anthropic'
            ? requestFault({ messages: sent as ModelCall['messages'] })
            : chatFault(sent.filter(({ role }) => role !== 'system'))
        expect(fault).toBeUndefined()
      }),
      { numRuns: 1_000 },
    )
  })
})
