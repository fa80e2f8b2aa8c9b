// The schema of an agent in a program: that of agent files, with the keys that only a program can
// have. agent.schema.json stays the one list of the others.

import type { AnySchemaObject } from 'ajv'
import { ahead } from '../../lib/json/ahead.ts'
import { agentAjv, agentSchema } from '../file/agent-schema.ts'

const isProgram = [{ required: ['command'] }, { required: ['module'] }]

export const codeValidator = ahead((code) => agentAjv(codeSchema(), code))

function codeSchema(): AnySchemaObject {
  // The conditions of the top are about systemFile and guests, which only files have.
  const { if: _if, then: _then, ...schema }: AnySchemaObject = structuredClone(agentSchema)
  const { $schema, systemFile, ...properties } = schema.properties
  const { items } = properties.tools
  const { schema: _, schemaFile, agent, ...toolProperties } = items.properties
  const { model } = properties
  return {
    ...schema,
    'x-accepted': 'an agent of defineAgent',
    required: ['name', 'system', 'model'],
    properties: {
      ...properties,
      requireIsolation: { type: 'boolean' },
      model: {
        ...model,
        'x-accepted': "a model, as anthropic('name')",
        properties: {
          ...model.properties,
          apiKey: { type: 'string', 'x-accepted': 'a key', 'x-secret': true },
        },
      },
      tools: {
        ...properties.tools,
        items: {
          ...items,
          required: ['name', 'description', 'parameters'],
          'x-accepted': 'a tool of defineTool',
          allOf: [
            {
              oneOf: ['run', 'command', 'http', 'module', 'client'].map((key) => ({
                required: [key],
              })),
            },
          ],
          dependencies: {
            ...Object.fromEntries(
              ['cwd', 'sandbox', 'environment'].map((key) => [
                key,
                { anyOf: [...isProgram, { required: ['isolated'] }] },
              ]),
            ),
            outputBytesMax: { anyOf: [...isProgram, { required: ['run'] }] },
            isolated: { anyOf: [{ required: ['run'] }] },
            export: { anyOf: [{ required: ['module'] }] },
          },
          properties: {
            ...toolProperties,
            parameters: {
              type: 'object',
              'x-accepted': 'a Standard Schema (zod, arktype, ...) or a JSON Schema, of an object',
            },
            run: { const: true, 'x-accepted': 'a function' },
            isolated: { type: 'boolean' },
            needsContext: {
              type: 'boolean',
              'x-accepted': 'true, or a Standard Schema of the context',
            },
          },
        },
      },
    },
  }
}
