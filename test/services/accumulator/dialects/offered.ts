// The tools that the tests of dialects offer, and the result of a text with them.

import {
  type OfferedTool,
  type Recovery,
  recover,
} from '../../../../services/accumulator/dialects/recover.ts'

const object = (
  properties: Record<string, unknown>,
  required: string[] = [],
  more: Record<string, unknown> = {},
) => JSON.stringify({ type: 'object', properties, required, ...more })

export const offered: OfferedTool[] = [
  {
    name: 'file_write',
    schema: object({ path: { type: 'string' }, content: { type: 'string' } }, ['path', 'content']),
  },
  {
    name: 'search',
    schema: object(
      {
        query: { type: 'string' },
        limit: { type: 'integer' },
        exact: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        filter: { type: 'object' },
        note: { type: ['string', 'null'] },
        level: { enum: ['low', 'high'] },
        size: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        ratio: { $ref: '#/$defs/ratio' },
      },
      ['query'],
      { $defs: { ratio: { type: 'number' } } },
    ),
  },
  { name: 'now', schema: object({}) },
  {
    name: 'plan',
    schema: object({
      steps: {
        type: 'array',
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, hours: { type: 'number' } },
        },
      },
      owner: { type: 'object', properties: { item: { type: 'string' }, id: { type: 'integer' } } },
      tags: { type: 'array', items: { type: 'string' } },
      any: {},
    }),
  },
  { name: 'anything', schema: '{"type":"object"}' },
]

export function recovered(text: string, tools: OfferedTool[] = offered): Recovery | undefined {
  return recover({ text, offered: tools })
}

/** The calls as [name, arguments]. Undefined if the text is not calls. */
export function calls(
  text: string,
  tools: OfferedTool[] = offered,
): [string, unknown][] | undefined {
  const recovery = recovered(text, tools)
  return recovery?.kind === 'calls'
    ? recovery.calls.map(({ name, raw }) => [name, JSON.parse(raw)])
    : undefined
}

/**
 * The reason why a text that is built like a call cannot run. Undefined if it is not built like
 * one.
 */
export function why(text: string): string | undefined {
  const recovery = recovered(text)
  return recovery?.kind === 'lookalike' ? recovery.why : undefined
}
