// The content of a message in the forms of the chat protocols: its text, images and files.

import type { FileInput, Question } from '../../../../client/weir.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { shown } from '../../../../shared/settings/mistake.ts'
import { type SentPart, sentPart } from '../../../../shared/wire/request/sent-part.ts'
import { bad } from '../../http-error.ts'

/** A message for `Weir.ask`. */
export type MessageContent = { text: string; images: Uint8Array[]; files: FileInput[] }

/** The text of a message. Images and files are left out. Throws 400, with `where`. */
export function textOfContent(content: unknown, where: string): string {
  return textOf(partsOf(content, where))
}

/** Throws 400, with `where`. `Weir.ask` checks the bytes. */
export function messageOfContent(content: unknown, where: string): MessageContent {
  const parts = partsOf(content, where)
  const images: Uint8Array[] = []
  const files: FileInput[] = []
  for (const [at, part] of parts.entries()) {
    if (part.kind === 'image') images.push(bytesOf(part.data, `${where}[${at}]`))
    if (part.kind === 'file') {
      const name = typeof part.name === 'string' && part.name.trim() !== '' ? part.name : 'file'
      files.push({ name, data: bytesOf(part.data, `${where}[${at}]`) })
    }
  }
  return { text: textOf(parts), images, files }
}

/** The fields of the native protocol: `text`, and lists like those of `Weir.ask`. Throws 400. */
export function messageOfFields(
  text: string,
  { images = [], files = [] }: Record<string, unknown>,
): MessageContent {
  if (!Array.isArray(images) || !Array.isArray(files)) throw bad('images and files must be lists')
  if (images.length + files.length > limits.contentsMax)
    throw bad(`images and files must be at most ${limits.contentsMax} together`)
  return {
    text,
    images: images.map((data: unknown, at) => bytesOf(data, `images[${at}]`)),
    files: files.map((file: unknown, at) => {
      if (isObject(file) && typeof file.name === 'string')
        return { name: file.name, data: bytesOf(file.data, `files[${at}]`) }
      throw bad(`files[${at}] must be an object with name and data`)
    }),
  }
}

/** The fields of a message for `Weir.ask`. */
export function questionFields({
  text,
  images,
  files,
}: MessageContent): Pick<Question, 'text' | 'images' | 'files'> {
  return { text, ...(images.length > 0 && { images }), ...(files.length > 0 && { files }) }
}

function textOf(parts: readonly SentPart[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
}

function partsOf(content: unknown, where: string): SentPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  if (content === null || content === undefined) return []
  if (!Array.isArray(content)) throw bad(`${where} must be a text or a list of parts`)
  return content.map((part: unknown, at) => {
    const read = isObject(part) ? sentPart(part) : undefined
    if (read !== undefined) return read
    throw bad(`${where}[${at}] is no text, image or file: other parts are not accepted`)
  })
}

function bytesOf(data: unknown, where: string): Uint8Array {
  const text = typeof data === 'string' ? data : ''
  const base64 = text.startsWith('data:') ? base64Of(text) : text
  if (base64 !== '' && /^[A-Za-z0-9+/_-]+={0,2}\s*$/.test(base64))
    return Buffer.from(base64, 'base64')
  throw bad(
    `${where} must have its bytes as a data URL with base64: ids of files and other URLs are not accepted`,
  )
}

function base64Of(url: string): string {
  const comma = url.indexOf(',')
  return url.slice(0, comma).endsWith(';base64') ? url.slice(comma + 1) : ''
}

type OfferedField = { accepts?: (value: unknown) => boolean; advice: string }

/** For refuseFields. */
export const toolChoice: OfferedField = {
  accepts: (value) => value === 'auto',
  advice: 'the model of the agent chooses its calls',
}

/** For refuseFields. */
export const isSwitch: OfferedField = {
  accepts: (value) => typeof value === 'boolean',
  advice: 'give true or false',
}

/** Throws 400 for a field that the edge does not offer, unless its value is the accepted one. */
export function refuseFields(
  body: Record<string, unknown>,
  fields: Record<string, OfferedField>,
): void {
  for (const [name, { accepts, advice }] of Object.entries(fields)) {
    const value = body[name]
    if (value === undefined || value === null || accepts?.(value) === true) continue
    const given = isObject(value) || Array.isArray(value) ? name : `${name}: ${shown(value)}`
    throw bad(`${given} is not offered: ${advice}`)
  }
}

/**
 * The names of the functions in `tools`. Throws 400 for tools of other kinds. `nameOf`: the name in the
 * form of the protocol.
 */
export function toolNames(
  tools: unknown,
  nameOf: (tool: Record<string, unknown>) => unknown,
): string[] {
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw bad('tools must be a list')
  return tools.map((tool: unknown, at) => {
    const isFunction = isObject(tool) && (tool.type === undefined || tool.type === 'function')
    const name = isFunction ? nameOf(tool) : undefined
    if (typeof name === 'string') return name
    throw bad(
      `tools[${at}] is not offered: the agent has its own tools. Declare only functions that it has with client: true`,
    )
  })
}
