// Reads a file with a conversation over many lines.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createTranscriptPlayer } from '../../../apps/transcripts/played.ts'
import { readTranscripts, type TranscriptFile } from '../../../apps/transcripts/read-transcripts.ts'
import { createLeftOut, type LeftOut } from '../../../shared/transcript/left-out.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-read-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function readIn(content: string, format: string, leftOut: LeftOut): Promise<TranscriptFile> {
  const file = join(folder, 'log.jsonl')
  writeFileSync(file, content)
  return readTranscripts(file, {
    format,
    idField: undefined,
    leftOut,
    signal: new AbortController().signal,
    read() {},
  })
}

/**
 * By conversation: the text or calls of each response, with the results, and the lines that are
 * printed about the file.
 */
async function readOf(content: string, format: string) {
  const leftOut = createLeftOut()
  const { transcripts, close } = await readIn(content, format, leftOut)
  const said = [...transcripts(() => {})].map(({ conversation, turns }) => [
    conversation,
    turns.flatMap(({ responses }) =>
      responses.map(({ text, reasoning, calls }) => ({
        text,
        thoughts: reasoning.length,
        calls: calls.map(({ name, result }) => [
          name,
          typeof result === 'object' ? result.text : result,
        ]),
      })),
    ),
  ])
  close()
  return { said: Object.fromEntries(said), told: leftOut.lines() }
}

const items = [
  { role: 'user', content: 'ping both' },
  { type: 'reasoning', id: 'rs_1', summary: [] },
  { type: 'function_call', call_id: 'c1', name: 'ping', arguments: '{"n":1}' },
  { type: 'function_call', call_id: 'c2', name: 'ping', arguments: '{"n":2}' },
  { type: 'function_call_output', call_id: 'c1', output: 'one' },
  { type: 'function_call_output', call_id: 'c2', output: 'two' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Both.' }] },
]

const responses = [
  {
    text: '',
    thoughts: 1,
    calls: [
      ['ping', 'one'],
      ['ping', 'two'],
    ],
  },
  { text: 'Both.', thoughts: 0, calls: [] },
]

describe('readTranscripts', () => {
  it.each([
    ['as a text', (item: object) => ({ message_data: JSON.stringify(item) })],
    ['as an object', (item: object) => ({ message_data: item })],
    ['in an envelope', (item: object) => ({ message: item })],
  ])(
    "reads the rows of the Agents SDK's table of sessions, with each item %s, by their sessions",
    async (_, wrapped) => {
      const rows = items.flatMap((item, at) =>
        ['a', 'b'].map((of) => ({
          id: 2 * at,
          session_id: of,
          ...wrapped(item),
          created_at: 'now',
        })),
      )
      const read = { said: { a: responses, b: responses }, told: [] }
      expect(
        await readOf(rows.map((row) => JSON.stringify(row)).join('\n'), 'openai-agents'),
      ).toEqual(read)
      expect(await readOf(JSON.stringify(rows), 'openai-agents')).toEqual(read)
    },
  )

  it('does not read an object with a type next to a request as a message', async () => {
    const line = {
      request: { messages: [items[0]] },
      response: { role: 'assistant', content: 'Both.' },
      message: { type: 'notice' },
    }
    expect(await readOf(`${JSON.stringify(line)}\n{}`, 'openai')).toMatchObject({
      said: { log: [responses[1]] },
    })
  })

  it('counts the same responses as the player, and does not take the played ones for all', async () => {
    const answer = { role: 'assistant', content: 'Both.' }
    const silence = { role: 'assistant', content: '' }
    const lines = [
      ...items.map((item) => ({ session_id: 'a', message_data: item })), // two calls of one response on two lines
      { messages: [answer] }, // no user message
      { request: [items[0]], response: silence }, // in no later request
      { request: [items[0]], response: silence },
      { messages: [items[0], answer, { role: 'user', content: 'again' }, answer, answer] },
    ]
    const content = lines.map((line) => JSON.stringify(line)).join('\n')
    const { rounds, transcripts, close } = await readIn(content, 'openai', createLeftOut())
    let [expected, played] = [rounds, 0]
    const pause = async (responses: number): Promise<void> => {
      played += responses
      expect(played).toBeLessThanOrEqual(expected)
    }
    const player = createTranscriptPlayer({ topicPrefix: 'p.', startAt: 0, pause })
    const seen: number[] = []
    for (const transcript of transcripts((more) => (expected += more))) {
      const { late } = await player.play(transcript)
      played += late
      seen.push(played)
    }
    close()
    expect({ seen, expected }).toEqual({ seen: [2, 6], expected: 6 })
  })
})
