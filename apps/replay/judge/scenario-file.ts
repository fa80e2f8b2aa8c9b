// Reads scenarios from a file's text. A line is a scenario, or a conversation as
// `weir inspect ID --json` prints it, which has no label.

import { Ajv, type ErrorObject } from 'ajv'
import { WeirError } from '../../../shared/lib/errors.ts'
import { alternatives, pathOf, pathText, shown } from '../../../shared/settings/mistake.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import type { Scenario } from './scenario.ts'
import { scenarioOf, timelineSchema } from './timeline-scenario.ts'

const session = { type: 'string' }
const names = { type: 'array', items: { type: 'string' } }
const schema = {
  type: 'object',
  required: ['id', 'steps'],
  properties: {
    id: { type: 'string', minLength: 1 },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        required: ['kind'],
        discriminator: { propertyName: 'kind' },
        oneOf: [
          {
            required: ['tool', 'args', 'outcome', 'result'],
            properties: {
              kind: { const: 'tool' },
              tool: { type: 'string' },
              args: { type: 'object' },
              outcome: { enum: ['ok', 'error'] },
              result: { type: 'string' },
              turn: { type: 'number' },
              at: { type: 'number', minimum: 0 },
              call_id: { type: 'string' },
              raw_args: { type: 'string' },
              session,
            },
          },
          {
            properties: {
              kind: { enum: ['text', 'thinking_only', 'empty'] },
              text: { type: 'string' },
              finish: { type: 'string' },
              session,
            },
          },
          { properties: { kind: { enum: ['user', 'compaction', 'stream_retry'] }, session } },
        ],
      },
    },
    tools: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'schema'],
        properties: { name: { type: 'string' }, schema: { type: ['object', 'boolean'] } },
      },
    },
    tool_hints: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: {
          poll: { type: 'boolean' },
          mutates: { type: 'boolean' },
          ignoreFields: names,
          ignore_args: names,
          loopKey: names,
        },
      },
    },
    limits: {
      type: 'object',
      properties: {
        max_tool_calls: { type: 'integer', minimum: 0 },
        max_turns: { type: 'integer', minimum: 0 },
      },
    },
    expect: {
      type: 'object',
      required: ['fires'],
      properties: {
        fires: { type: ['boolean', 'null'] },
        by_step: { type: ['integer', 'null'], minimum: 1 },
        kind: { type: ['string', 'null'] },
        reason: { type: ['string', 'null'] },
      },
    },
    second_by_step: { type: ['integer', 'null'], minimum: 1 },
  },
}

const ajv = new Ajv({ discriminator: true, allowUnionTypes: true, strictRequired: false })
const isScenario = ajv.compile<Scenario>(schema)
const isTimeline = ajv.compile<Timeline>(timelineSchema)

/**
 * The scenarios of a file's text, in its order. Throws `scenario.invalid` with the place and the
 * accepted value.
 */
export function readScenarios(file: string, text: string): Scenario[] {
  const scenarios = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [readLine(file, index + 1, line)]))
  if (scenarios.length === 0)
    throw invalid(file, 'has no scenario; each line must be a JSON object with id and steps')
  const names = new Set<string>()
  for (const { id } of scenarios) {
    if (names.has(id)) throw invalid(file, `has two scenarios ${shown(id)}; ids must be unique`)
    names.add(id)
  }
  return scenarios
}

function readLine(file: string, line: number, text: string): Scenario {
  const where = `${file}:${line}`
  const value = parsed(where, text)
  if (isMeantAsTimeline(value)) {
    if (isTimeline(value)) return scenarioOf(value)
    throw mistaken(where, isTimeline.errors)
  }
  // A file may use the last three names for its own data.
  if (isScenario(value))
    return { ...value, settingsOf: undefined, reasonOf: undefined, isImported: undefined }
  throw mistaken(where, isScenario.errors)
}

function mistaken(where: string, errors: ErrorObject[] | null | undefined): WeirError {
  const [mistake] = errors ?? []
  const at = pathText(pathOf(mistake?.instancePath ?? ''))
  return invalid(where, `${at === '' ? '' : `${at} `}${problemText(mistake)}`)
}

function parsed(where: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(
      where,
      `is not JSON (${(error as Error).message}); each line must be one JSON object, a scenario or what weir inspect ID --json prints`,
    )
  }
}

function isMeantAsTimeline(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'conversation' in value && 'turns' in value
}

function problemText(mistake: ErrorObject | undefined): string {
  if (mistake?.keyword === 'discriminator') {
    const kinds = ['tool', 'text', 'thinking_only', 'empty', 'user', 'compaction', 'stream_retry']
    return `has the kind ${shown(mistake.params.tagValue)}; must be ${alternatives(kinds)}`
  }
  if (mistake?.keyword === 'enum')
    return `must be ${alternatives(mistake.params.allowedValues.map(String))}`
  return mistake?.message ?? 'is no scenario'
}

function invalid(where: string, text: string): WeirError {
  return new WeirError('scenario.invalid', `${where}: ${text}`)
}
