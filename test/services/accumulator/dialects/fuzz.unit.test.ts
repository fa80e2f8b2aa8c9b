// Random texts by seed: mixtures of marks and broken JSON, and real calls with pieces removed,
// doubled or moved.

import { describe, expect, it } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { unrunnable } from '../../../../services/accumulator/dialects/unrunnable.ts'
import { echoSource } from '../../../../services/accumulator/echo.ts'
import { offered, recovered } from './offered.ts'
import { texts } from './written.ts'

const echoOf = (text: string, earlier: string) =>
  echoSource({ text, offered, callsAsText: false }, [{ source: 'earlier', text: earlier }])

const marks = [
  ...[
    '<tool_call>',
    '</tool_call>',
    '<function=',
    '</function>',
    '<parameter=',
    '</parameter>',
    '>',
    '<arg_key>',
    '</arg_key>',
    '<arg_value>',
  ],
  ...[
    '</arg_value>',
    '[TOOL_CALLS]',
    '[ARGS]',
    '[CALL_ID]',
    '<|tool_calls_section_begin|>',
    '<|tool_calls_section_end|>',
    '<|tool_call_begin|>',
  ],
  ...[
    '<|tool_call_argument_begin|>',
    '<|tool_call_end|>',
    '<｜tool▁calls▁begin｜>',
    '<｜tool▁call▁begin｜>',
    '<｜tool▁sep｜>',
    '<｜tool▁call▁end｜>',
  ],
  ...[
    '<｜tool▁calls▁end｜>',
    '<function_calls>',
    '</function_calls>',
    '<invoke name="',
    '">',
    '</invoke>',
    '<parameter name="',
    '<|python_tag|>',
  ],
  ...[
    'functools[',
    '<|channel|>commentary to=',
    '<|tool_call>call:',
    '<tool_call|>',
    '<|"|>',
    '<|im_end|>',
    ';',
    '<|message|>',
    '<|call|>',
    '```',
    '```json\n',
    '\n',
    ' ',
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    ',',
    ':',
    '=',
  ],
  ...[
    '"',
    "'",
    '\\',
    '{"name":"',
    '","arguments":{',
    '{"tool":"',
    '"function":{',
    'true',
    'None',
    '-',
    '1e9',
    '\u0000',
    '\ud800',
    'é',
    '{}',
  ],
]
const familyMarks = [
  ...[']<]minimax[>[', '<tool_call>', '<query>', '</query>', '<item>', '</item>'],
  ...['<|open|>', '<|close|>', '<|sep|>', 'tools', 'call tool="', 'argument key="'],
  ...['" type="string"', '" index="1"', 'json type="object"', 'response'],
  ...['<|START_ACTION|>', '<|END_ACTION|>', '{"tool_name":"', '","parameters":{'],
  ...['<|tools_prefix|>', '<|tools_suffix|>', '[{"search":{', '<|python_start|>'],
  ...['<|python_end|>', '<|tool_call_start|>', '<|tool_call|>', '<|/tool_call|>'],
  ...['function call<|role_sep|>', '<|message_sep|>', '<tool_calls>', '</tool_calls>'],
  ...['<tool_sep>', '<steptml:invoke name="', '<steptml:parameter name="', '</steptml:invoke>'],
  ...['<function name="', '<param name="', '</param>', '<![CDATA[', ']]>', '&lt;'],
  ...[
    '<｜DSML｜invoke name="',
    '</｜DSML｜invoke>',
    '<||DSML||parameter name="',
    '" string="false">',
  ],
  ...['```tool_code\n', '<tool_code>', '</tool_code>', 'print(', 'default_api.'],
  ...['<|start|>assistant', '<|channel|>commentary', '<|channel|>analysis', '<|end|>'],
]
const allMarks = [...marks, ...familyMarks]
const names = [...offered.map(({ name }) => name), 'query', 'path', 'content']
const soup = fc
  .array(
    fc.oneof(fc.constantFrom(...allMarks), fc.constantFrom(...names), fc.string({ maxLength: 4 })),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''))
const noise = fc
  .array(
    fc.oneof(
      fc.constantFrom(...allMarks),
      fc.constantFrom('rm', 'x', 'query'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    {
      maxLength: 40,
    },
  )
  .map((pieces) => pieces.join(''))
  .filter((text) => !offered.some(({ name }) => text.includes(name)))

const real = [
  '[{"tool": "file_write", "path": "a", "content": "b"}]',
  '{"name": "search", "arguments": {"query": "a", "limit": 3}}',
  ...texts.map(({ text }) => text),
]
const mutated = fc
  .tuple(
    fc.constantFrom(...real),
    fc.constantFrom(...real),
    fc.nat(),
    fc.nat(),
    fc.nat(),
    fc.constantFrom(...allMarks),
  )
  .map(([text, other, a, b, c, mark]) => {
    const [from, to] = [a % (text.length + 1), b % (text.length + 1)].toSorted((x, y) => x - y)
    const piece =
      c % 4 === 0 ? '' : c % 4 === 1 ? text.slice(from, to).repeat(2) : c % 4 === 2 ? other : mark
    return text.slice(0, from) + piece + text.slice(to)
  })

const judges = new Map(
  offered.map(({ name, schema }) => [
    name,
    new Ajv2020({ strict: false }).compile(JSON.parse(schema)),
  ]),
)
const seed = 20_261_122

describe('random texts', () => {
  it.each([
    ['a soup of marks', soup, 4_000],
    ['a real call with something taken out, doubled or put in', mutated, 4_000],
    ['any characters', fc.string({ unit: 'binary', maxLength: 200 }), 500],
  ])(
    'of %s never throw, and each recovered call is offered, an object and valid',
    (_, texts, numRuns) => {
      fc.assert(
        fc.property(texts, (text) => {
          unrunnable(text, offered)
          unrunnable(`a\n${text}`, offered)
          const recovery = recovered(text)
          if (recovery?.kind !== 'calls') return
          expect(echoOf(text, `a ${text} b`)).toBe('earlier')
          expect(recovery.calls.length).toBeGreaterThan(0)
          for (const { name, raw } of recovery.calls)
            expect(judges.get(name)?.(JSON.parse(raw))).toBe(true)
        }),
        { seed, numRuns },
      )
    },
  )

  it('that name no tool are never calls, and never get a fault', () => {
    fc.assert(
      fc.property(noise, (text) => {
        expect(recovered(text)?.kind).not.toBe('calls')
      }),
      { seed, numRuns: 4_000 },
    )
  })

  it('are echoes of texts that hold them, and of no other texts', () => {
    fc.assert(
      fc.property(fc.constantFrom(...real), noise, noise, (text, before, after) => {
        expect(echoOf(text, `${before} ${text} ${after}`)).toBe('earlier')
        expect(echoOf(text, JSON.stringify({ [before]: text }))).toBe('earlier')
        expect(echoOf(text, 'The dam holds back the water of the weir.')).toBeNull()
      }),
      { seed, numRuns: 500 },
    )
  })

  it('stay text if a word precedes or follows a call', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...real),
        fc.stringMatching(/^[A-Za-z][a-z ,.]{0,30}[a-z.]$/),
        fc.boolean(),
        (text, words, before) => {
          expect(recovered(before ? `${words} ${text}` : `${text} ${words}`)).toBeUndefined()
        },
      ),
      { seed, numRuns: 500 },
    )
  })
})
