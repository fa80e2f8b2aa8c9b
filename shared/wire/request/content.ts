// The lists and texts in the content of a message.

import { jsonText } from '../../lib/json/json-object.ts'
import type { BodyEdit, Json } from '../format.ts'

export function listIn(value: unknown): Json[] {
  return Array.isArray(value)
    ? value.filter((one): one is Json => typeof one === 'object' && one !== null)
    : []
}

/** All texts of a message's content, in a row. */
export function contentText({ content }: Json): string {
  if (typeof content === 'string') return content
  return listIn(content)
    .flatMap(({ text }) => (typeof text === 'string' ? text : []))
    .join(' ')
}

/** The value of `tool_choice` that forbids calls, if the request has tools. */
export function toolChoice(value: unknown): (body: Json) => BodyEdit[] {
  return ({ tools }) =>
    listIn(tools).length > 0 ? [{ kind: 'set', path: ['tool_choice'], value }] : []
}

/** The texts of a message's content: a text, or a list with texts of the given types. */
export function textIn(content: unknown, types: readonly string[]): string | undefined {
  if (typeof content === 'string') return content
  const texts = listIn(content).filter(
    ({ type, text }) => types.includes(jsonText(type)) && typeof text === 'string',
  )
  return texts.length === 0 ? undefined : texts.map(({ text }) => text).join('\n\n')
}
