// Reads scenarios from a file's text. A line is a scenario, or a conversation as
// `weir inspect ID --json` prints it, which has no label.

import { Ajv, type ErrorObject } from 'ajv'
import { WeirError } from '../../../shared/lib/errors.ts'
import { alternatives, pathOf, pathText, shown } from '../../../shared/settings/mistake.ts'
import type { Timeline } from '../../../shared/view/timeline.ts'
import { flag, listOf, mapOf, number, objectOf, orNull, someText, text } from './json-schema.ts'
import type { Scenario } from './scenario.ts'
import { scenarioOf, timelineSchema } from './timeline-scenario.ts'

const toolStep = {
  kind: { const: 'tool' },
  tool: text,
  args: { type: 'object' },
  outcome: { enum: ['ok', 'error'] },
  result: text,
  turn: number,
  at: { type: 'number', minimum: 0 },
  call_id: text,
  raw_args: text,
  session: text,
}
const silentStep = {
  kind: { enum: ['text', 'thinking_only', 'empty'] },
  text,
  finish: text,
  session: text,
}
const otherStep = { kind: { enum: ['user', 'compaction', 'stream_retry'] }, session: text }
const step = {
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: [
    { required: ['tool', 'args', 'outcome', 'result'], properties: toolStep },
    { properties: silentStep },
    { properties: otherStep },
  ],
}
const names = listOf(text)
const hints = objectOf(
  { poll: flag, mutates: flag, ignoreFields: names, ignore_args: names, loopKey: names },
  [],
)
const cap = { type: 'integer', minimum: 0 }
const stepNumber = { type: ['integer', 'null'], minimum: 1 }
const expectation = {
  fires: orNull(flag),
  by_step: stepNumber,
  kind: orNull(text),
  reason: orNull(text),
}
const schema = objectOf(
  {
    id: someText,
    steps: listOf(step),
    tools: listOf(objectOf({ name: text, schema: { type: ['object', 'boolean'] } })),
    tool_hints: mapOf(hints),
    limits: objectOf({ max_tool_calls: cap, max_turns: cap }, []),
    expect: objectOf(expectation, ['fires']),
    second_by_step: stepNumber,
  },
  ['id', 'steps'],
)

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
