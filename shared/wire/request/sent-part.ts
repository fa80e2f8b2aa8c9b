// A part of a message in the forms of clients: a text, an image or a file.
// Images and files arrive as bytes in the request. No URL is fetched.

import { isObject, jsonText } from '../../lib/json/json-object.ts'
import type { Json } from '../format.ts'

/** `data`: a data URL, or base64. */
export type SentPart =
  | { kind: 'text'; text: string }
  | { kind: 'image'; data: unknown }
  | { kind: 'file'; name: unknown; data: unknown }

/** OpenAI's forms of Chat Completions and Responses, the AI SDK's, and AG-UI's. */
export function sentPart({ type, ...part }: Json): SentPart | undefined {
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return typeof part.text === 'string' ? { kind: 'text', text: part.text } : undefined
    case 'input_image':
      return { kind: 'image', data: dataUrl(part.image_url) }
    case 'image_url':
      return { kind: 'image', data: isObject(part.image_url) && dataUrl(part.image_url.url) }
    case 'input_file':
      return { kind: 'file', name: part.filename, data: part.file_data }
    case 'file':
      return isObject(part.file)
        ? { kind: 'file', name: part.file.filename, data: part.file.file_data }
        : uiFileOf(part)
    case 'image':
      return { kind: 'image', data: agDataOf(part) }
    case 'document':
      return { kind: 'file', name: part.filename, data: agDataOf(part) }
    default:
      return undefined
  }
}

function uiFileOf({ mediaType, filename, url }: Json): SentPart {
  return jsonText(mediaType).startsWith('image')
    ? { kind: 'image', data: dataUrl(url) }
    : { kind: 'file', name: filename, data: dataUrl(url) }
}

function dataUrl(url: unknown): string | undefined {
  return typeof url === 'string' && url.startsWith('data:') ? url : undefined
}

function agDataOf({ source }: Json): unknown {
  return isObject(source) && source.type === 'data' ? source.value : undefined
}
