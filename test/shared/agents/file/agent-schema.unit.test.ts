// Editors and the loader use agent.schema.json, so it must describe Weir's real behaviour.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { Ajv } from 'ajv'
import { toolDefaults } from '../../../../shared/agents/file/parts/tool-part.ts'
import { defaultSettings } from '../../../../shared/agents/policy/policy.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { outputBytesDefault } from '../../../../shared/tools/kept-output.ts'

type Schema = {
  description?: string
  default?: unknown
  type?: string
  maximum?: number
  maxItems?: number
  additionalProperties?: unknown
  properties?: Record<string, Schema>
  items?: Schema
}

const schema: Schema = JSON.parse(
  readFileSync(
    new URL('../../../../shared/agents/file/agent.schema.json', import.meta.url),
    'utf8',
  ),
)

/** The part under keys of objects. `[]` stands for the items of a list. */
function at(...path: string[]): Schema {
  return path.reduce<Schema>(
    (part, key) => (key === '[]' ? part.items : part.properties?.[key]) ?? {},
    schema,
  )
}

function defaultsOf(names: string[], ...path: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, at(...path, name).default]))
}

describe('the schema of agent files', () => {
  it('is a JSON Schema of draft-07, which every editor knows', () => {
    expect(new Ajv({ strict: false }).validateSchema(schema)).toBe(true)
  })

  it('states the defaults that apply', () => {
    const { fallback, attempts, stallMs, firstByteMs, policy } = defaultSettings
    const { tokens, ...caps } = policy.caps
    expect(tokens).toBe(null) // so the schema has no default
    expect(at('fallback').default).toBe(fallback)
    expect(at('attempts').default).toBe(attempts)
    expect(at('stallMs').default).toBe(stallMs)
    expect(at('firstByteMs').default).toBe(firstByteMs)
    expect(at('tools', '[]', 'outputBytesMax').default).toBe(outputBytesDefault)
    expect(at('tools', '[]', 'http', 'outputBytesMax').default).toBe(outputBytesDefault)
    expect(defaultsOf(['rounds', 'calls', 'wallMs'], 'caps')).toEqual(caps)
    expect(defaultsOf(Object.keys(policy.loop), 'loop')).toEqual(policy.loop)
    expect(defaultsOf(Object.keys(policy.empty), 'empty')).toEqual(policy.empty)
    expect(defaultsOf(['startWithinMs', 'graceMs', 'toolTries'])).toEqual({
      startWithinMs: policy.startWithinMs,
      graceMs: policy.graceMs,
      toolTries: policy.toolTries,
    })
    expect(defaultsOf(Object.keys(toolDefaults), 'tools', '[]')).toEqual(toolDefaults)
  })

  it('states the limits that no setting may raise', () => {
    expect(at('caps', 'rounds').maximum).toBe(limits.turnRoundsMax)
    expect(at('caps', 'calls').maximum).toBe(limits.turnCallsMax)
    expect(at('caps', 'wallMs').maximum).toBe(limits.turnWallMsMax)
    expect(at('stallMs').maximum).toBe(limits.turnWallMsMax)
    expect(at('firstByteMs').maximum).toBe(limits.turnWallMsMax)
    expect(at('attempts').maximum).toBe(limits.attemptsMax)
    expect(at('startWithinMs').maximum).toBe(limits.startWithinMsMax)
    expect(at('graceMs').maximum).toBe(limits.graceMsMax)
    expect(at('tools', '[]', 'timeoutMs').maximum).toBe(limits.toolTimeoutMsMax)
    expect(at('tools', '[]', 'concurrency').maximum).toBe(limits.runningToolsMax)
    expect(at('tools', '[]', 'outputBytesMax').maximum).toBe(limits.resultBytesMax)
    expect(at('tools', '[]', 'http', 'outputBytesMax').maximum).toBe(limits.resultBytesMax)
  })

  it('describes every key and rejects every other', () => {
    const look = (part: Schema, path: string): string[] => [
      ...(part.description === undefined ? [`${path} has no description`] : []),
      ...(part.properties !== undefined && part.additionalProperties !== false
        ? [`${path} allows other keys`]
        : []),
      ...Object.entries(part.properties ?? {}).flatMap(([name, child]) =>
        look(child, `${path}.${name}`),
      ),
    ]
    expect([
      ...look(schema, 'agent'),
      ...Object.entries(at('tools', '[]').properties ?? {}).flatMap(([name, part]) =>
        look(part, name),
      ),
    ]).toEqual([])
    expect(at('tools', '[]').additionalProperties).toBe(false)
  })
})
