// A member of foreign JSON may have any value. An object with its own `toString` has no text: a
// template with it throws a TypeError. No reader of requests and histories may throw one.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { WeirError } from '../../../shared/lib/errors.ts'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import { apiFormats, historyFormats } from '../../../shared/wire/formats.ts'
import { sessionPrograms } from '../../../shared/wire/sessions.ts'

const strange: unknown[] = [{ toString: 1 }, [{ toString: 1 }], [], {}, null, 7, true, '']

const called = { name: 'read', arguments: '{"path":"a"}' }
const bodies: object[] = [
  {
    model: 'm',
    system: [{ type: 'text', text: 'Be brief.' }],
    tools: [{ type: 'custom', name: 'read', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'read', input: { path: 'a' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }] },
    ],
  },
  {
    model: 'm',
    n: 1,
    tools: [{ type: 'function', function: { name: 'read', parameters: {} } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: called }] },
      { role: 'assistant', function_call: called },
      { role: 'tool', tool_call_id: 'a', content: 'done' },
    ],
  },
  {
    model: 'm',
    tools: [{ type: 'function', name: 'read', parameters: {} }],
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      { type: 'function_call', id: 'i', call_id: 'a', ...called },
      { type: 'custom_tool_call', call_id: 'b', name: 'patch', namespace: 'x', input: 'a' },
      { type: 'function_call_output', call_id: 'a', output: 'done' },
      { type: 'reasoning', id: 'r', summary: [] },
    ],
  },
  {
    contents: [
      {
        role: 'user',
        parts: [{ text: 'hi' }, { inlineData: { mimeType: 'image/png', data: '' } }],
      },
      { role: 'model', parts: [{ functionCall: { id: 'a', name: 'read', args: {} } }] },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'a', name: 'read', response: { output: 'done' } } }],
      },
    ],
  },
  {
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'read', input: {} }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'read',
            output: { type: 'text', value: 'done' },
          },
        ],
      },
    ],
  },
  {
    messages: [
      { type: 'ai', content: '', tool_calls: [{ id: 'a', name: 'read', args: {} }] },
      { type: 'tool', tool_call_id: 'a', name: 'read', content: 'done', status: 'success' },
    ],
  },
]

/** The paths of all members and items. */
function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => [
    [...path, name],
    ...pathsIn(member, [...path, name]),
  ])
}

function withMember(
  body: object,
  path: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const copy = structuredClone(body) as Record<string, unknown>
  const last = path.at(-1) ?? ''
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], copy)
  ;(parent as Record<string, unknown>)[last] = value
  return copy
}

const places = bodies.flatMap((body) => pathsIn(body).map((path) => ({ body, path })))
const one = fc.tuple(
  fc.constantFrom(...places),
  fc.oneof(fc.constantFrom(...strange), fc.jsonValue()),
)

/** Two changes of one body: a second one may be gone with the first. */
const changed = one.map(([{ body, path }, value]) => withMember(body, path, value))

function expectNoTypeError(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof WeirError)) throw error
  }
}

const readers = [
  ...historyFormats.map(({ name, transcript }) => [name, transcript] as const),
  ...sessionPrograms.map(({ name, session }) => [name, session.messages] as const),
]

describe.each(readers)('the reader of a history of %s', (_, transcript) => {
  it('reads or refuses any value of any member', () => {
    const read = (request: unknown) =>
      expectNoTypeError(() => transcript.read({ request, answer: undefined }, 'x'))
    for (const { body, path } of places)
      for (const value of strange) read(withMember(body, path, value))
    fc.assert(fc.property(changed, read))
    expect(places.length).toBeGreaterThan(50)
  })
})

describe.each(apiFormats.map((format) => [format.name, format] as const))(
  'the reader of a request of %s',
  (_, { request }) => {
    it('reads any value of any member', () => {
      const read = (body: Record<string, unknown>) => {
        const items = body[request.history]
        for (const item of Array.isArray(items) ? items.filter(isObject) : []) {
          request.calls(item)
          request.isOfModel(item)
          request.userText(item)
          request.modelText(item)
        }
        request.elsewhere(body)
        request.hasTools(body)
        request.outputLimits(body)
        request.answers(body)
      }
      for (const { body, path } of places)
        for (const value of strange) read(withMember(body, path, value))
      fc.assert(fc.property(changed, read))
      expect(places.length).toBeGreaterThan(50)
    })
  },
)
