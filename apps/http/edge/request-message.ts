// The texts of a request in OpenAI's forms.

import { isObject } from '../../../shared/lib/json/json-object.ts'
import { HttpError } from '../http-error.ts'

/** The content of a message: a text, or a list of parts with texts. Throws 400, with `where`. */
export function textOfContent(content: unknown, where: string): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (!Array.isArray(content)) throw bad(`${where} must be a text or a list of parts`)
  return content
    .map((part: unknown, at) => {
      const text = isObject(part) && textTypes.has(String(part.type)) ? part.text : undefined
      if (typeof text === 'string') return text
      throw bad(`${where}[${at}] is no part with a text: other parts are not accepted`)
    })
    .join('\n')
}

const textTypes: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text'])

/** Throws 400 for a field that the edge does not offer, unless its value is the accepted one. */
export function refuseFields(
  body: Record<string, unknown>,
  fields: Record<string, { accepts?: (value: unknown) => boolean; advice: string }>,
): void {
  for (const [name, { accepts, advice }] of Object.entries(fields)) {
    const value = body[name]
    if (value === undefined || value === null || accepts?.(value) === true) continue
    throw bad(`${name} is not offered: ${advice}`)
  }
}

export function bad(message: string): HttpError {
  return new HttpError(400, 'http.body', message)
}
