// Tool calls as text, for models without native calls (`toolCalls: text` in an agent file). The
// instructions explain the form, and the history shows calls and results as text. Changes the
// request before the provider maps it, so it works for every provider. Owns: these instructions.
// Does not own: parsing the calls (accumulator).
//
// One form, shown with an example (I2): a JSON object with name and arguments, or
// an array of them. The history uses the same form.
// Equal tools and entries give equal texts, and more entries only append,
// so the provider's prompt cache holds.

import type { Agent } from '../../../../shared/agents/agents.ts'
import type { Call, Declaration } from '../../../../shared/contract/messages.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { callingInstructions } from '../../../../shared/model-texts/requests.ts'
import type { ProviderRequest } from '../../../../shared/wire/exchange.ts'
import { argumentsOf, callsAsText } from './calls-as-text.ts'

/** The request in the form that this agent's model accepts. */
export function inItsWords({ model, system }: Agent, request: ProviderRequest): ProviderRequest {
  if (model.toolCalls !== 'text') return request
  const instructions = request.tools.length === 0 ? [] : [instructionsFor(request.tools)]
  const own = request.system ?? system
  const texts = [...(own.trim() === '' ? [] : [own]), ...instructions]
  return {
    ...request,
    system: texts.join('\n\n'),
    tools: [],
    history: request.history.flatMap((entry) => callsAsText(entry, inOneShape)),
  }
}

function inOneShape(calls: Call[]): string[] {
  const written = calls.map((call) => shapeOf(call.name, argumentsOf(call)))
  return written.length === 1 ? written : [`[${written.join(',\n')}]`]
}

function instructionsFor(tools: Declaration[]): string {
  const [first] = tools
  return callingInstructions(
    first && shapeOf(first.name, JSON.stringify(exampleOf(first))),
    tools.map(
      ({ name, description, schema }) =>
        `- ${name}: ${description}\n  ${JSON.stringify(JSON.parse(schema))}`,
    ),
  )
}

function shapeOf(name: string, args: string): string {
  return `{"name": ${JSON.stringify(name)}, "arguments": ${args}}`
}

// ── An example ──

type Schema = Record<string, unknown>

/** A value for each required argument, of its type if the schema names one. */
function exampleOf({ schema }: Declaration): Schema {
  const { required, properties } = JSON.parse(schema) as Schema
  if (!Array.isArray(required)) return {}
  const described = (isObject(properties) ? properties : {}) as Record<string, unknown>
  return Object.fromEntries(
    required.map((name) => [String(name), exampleValue(described[String(name)])]),
  )
}

function exampleValue(schema: unknown): unknown {
  if (!isObject(schema)) return '...'
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const examples: Record<string, unknown> = {
    integer: 1,
    number: 1,
    boolean: true,
    array: [],
    object: {},
    null: null,
  }
  return typeof type === 'string' && type in examples ? examples[type] : '...'
}
