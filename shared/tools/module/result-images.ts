// The images in the value that a function of this process returns: a part
// `{ type: 'image', data, mediaType }`, alone or in a list with texts.
// A value without such a part is left as it is.
// Each image leaves a note with its hash in the text, so equal results stay equal
// for the loop-detector, and different images differ.

import {
  contentNote,
  contentOf,
  contentsFault,
  isImage,
  mediaTypeOf,
  type WholeContent,
} from '../../contract/call/contents.ts'
import { isObject } from '../../lib/json/json-object.ts'

/** Throws an error for the model if a part is no image that Weir accepts. */
export function withImages(value: unknown): { value: unknown; contents: WholeContent[] } {
  const parts = Array.isArray(value) ? value : [value]
  if (!parts.some(isImagePart)) return { value, contents: [] }
  const contents: WholeContent[] = []
  const texts = parts.map((part) => {
    if (!isImagePart(part)) return textOf(part)
    const content = imageOf(part)
    contents.push(content)
    return contentNote(content)
  })
  const fault = contentsFault('the result', contents)
  if (fault !== undefined) throw new Error(fault)
  return { value: texts.join('\n'), contents }
}

type ImagePart = { type: 'image'; data: unknown; mediaType?: unknown }

function isImagePart(part: unknown): part is ImagePart {
  return isObject(part) && part.type === 'image' && 'data' in part
}

function imageOf({ data, mediaType: said }: ImagePart): WholeContent {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'base64') : data
  if (!(bytes instanceof Uint8Array))
    throw new Error('an image of the result has no data: give a Uint8Array or base64')
  const mediaType = mediaTypeOf(bytes)
  if (mediaType === undefined || !isImage({ mediaType }))
    throw new Error(
      `an image of the result is ${mediaType ?? 'of no known type'}: give PNG, JPEG, GIF or WebP`,
    )
  if (said !== undefined && said !== mediaType)
    throw new Error(`an image of the result is ${mediaType}, and not ${JSON.stringify(said)}`)
  return contentOf(Uint8Array.from(bytes), mediaType)
}

function textOf(part: unknown): string {
  if (typeof part === 'string') return part
  if (isObject(part) && part.type === 'text' && typeof part.text === 'string') return part.text
  return JSON.stringify(part) ?? ''
}
