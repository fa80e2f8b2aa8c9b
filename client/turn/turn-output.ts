// The typed output of a turn: its reply as JSON, checked by the schema of the question.

import type { TurnFinished } from '../../shared/contract/messages.ts'
import { messageError, WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import {
  type ConvertibleSchema,
  checkBy,
  isStandardSchema,
  type JsonSchema,
  jsonSchemaOf,
  objectOfSchemas,
} from '../define/standard-schema.ts'

export type OutputSchema<Output> = ConvertibleSchema<Output> | JsonSchema

/** The schema as the text of a record. Throws `message.invalid`. */
export function outputText(schema: OutputSchema<unknown>): string {
  if (typeof schema === 'string') throw invalid(`is ${shown(schema)}; ${expected}`)
  const found = isStandardSchema(schema) ? jsonSchemaOf(schema) : schema
  if (typeof found === 'string') throw invalid(found)
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    throw invalid(`is no schema; ${expected}`)
  const slip = found === schema ? objectOfSchemas(found) : undefined
  if (slip !== undefined) throw invalid(slip)
  return JSON.stringify(found)
}

const expected = 'must be a Standard Schema or a JSON Schema'

function invalid(text: string): WeirError {
  return messageError(`output ${text}`)
}

/** Rejects if there is no reply that fits. The conversation has judged it by the JSON Schema. */
export async function outputOf<Output>(
  finished: Promise<TurnFinished>,
  schema: OutputSchema<Output>,
): Promise<Output> {
  const { outcome, reply, reason } = await finished
  if (outcome !== 'answered')
    throw new WeirError('output.missing', `the turn has no output: it was ${outcome}: ${reason}`)
  const value: unknown = JSON.parse(reply)
  if (!isStandardSchema(schema)) return value as Output
  const checked = await checkBy(schema)(value)
  if ('value' in checked) return checked.value as Output
  throw new WeirError('output.invalid', `the output does not fit: ${checked.problems.join('; ')}`)
}
