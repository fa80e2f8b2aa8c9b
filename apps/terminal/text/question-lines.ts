// A question of a running tool, for a person: the server, its message, and the fields or the address.
// Each line has an indent.

import { type InputQuestion, inputFields } from '../../../shared/contract/call/input-question.ts'
import { argumentLines } from './argument-lines.ts'

/** `columns`: as of `argumentLines`. */
export function questionLines(question: InputQuestion, columns: number): string[] {
  const { server, message } = question
  const body =
    question.mode === 'url'
      ? [`open ${question.url} in a browser, then confirm`]
      : inputFields(question).map(fieldLine)
  const lines = [`the MCP server ${server} asks: ${message}`, ...body]
  return lines.flatMap((line) => argumentLines(line, columns))
}

function fieldLine(field: ReturnType<typeof inputFields>[number]): string {
  const { name, type, description, isRequired } = field
  const notes = [
    type,
    ...(isRequired ? ['required'] : []),
    ...(field.default === undefined ? [] : [`default ${JSON.stringify(field.default)}`]),
  ]
  return `${name} (${notes.join('; ')})${description === '' ? '' : `: ${description}`}`
}
