// The images and files of a question, checked and hashed. A wrong one is an error with its place,
// and no record is written.

import {
  contentOf,
  contentsFault,
  fileTypes,
  imageTypes,
  isImage,
  mediaTypeOf,
  type WholeContent,
} from '../../shared/contract/call/contents.ts'
import { limits } from '../../shared/contract/limits.ts'
import { messageError } from '../../shared/lib/errors.ts'

/**
 * An image: PNG, JPEG, GIF or WebP. `data`: its bytes. `mediaType`: checked against the first bytes.
 */
export type ImageInput = Uint8Array | { data: Uint8Array; mediaType?: string }

/** A file: a PDF, or a text in UTF-8. `name`: shown to the model. */
export type FileInput = { name: string; data: Uint8Array | string; mediaType?: string }

/** Throws `message.invalid` with the place, the value and the accepted ones. */
export function contentsOf(
  images: readonly ImageInput[] = [],
  files: readonly FileInput[] = [],
): WholeContent[] {
  const contents = [
    ...listOf('images', images).map((image, n) => imageOf(image, `images[${n}]`)),
    ...listOf('files', files).map((file, n) => fileOf(file, `files[${n}]`)),
  ]
  const fault = contentsFault('the question', contents)
  if (fault !== undefined) throw messageError(fault)
  return contents
}

function listOf<One>(name: string, list: readonly One[]): readonly One[] {
  if (Array.isArray(list)) return list
  throw messageError(`${name} is no list: give a list, even of one`)
}

function imageOf(image: ImageInput, place: string): WholeContent {
  const { data, mediaType: said } =
    image instanceof Uint8Array ? { data: image, mediaType: undefined } : image
  const bytes = bytesOf(data, place)
  const mediaType = mediaTypeOf(bytes)
  if (mediaType === undefined || !isImage({ mediaType })) {
    const advice = mediaType === undefined ? '' : '; give it in files'
    throw messageError(
      `${place} is ${mediaType ?? 'of no known type'}: accepted images are ${imageTypes.join(', ')}${advice}`,
    )
  }
  checkSaid(said, mediaType, place)
  return contentOf(bytes, mediaType)
}

function fileOf({ name, data, mediaType: said }: FileInput, place: string): WholeContent {
  if (typeof name !== 'string' || name.trim() === '' || !name.isWellFormed())
    throw messageError(`${place} has no name: give the file's name`)
  const bytes = bytesOf(typeof data === 'string' ? Buffer.from(data) : data, place)
  const mediaType = mediaTypeOf(bytes)
  if (mediaType === undefined || isImage({ mediaType })) {
    const advice = mediaType === undefined ? '' : '; give it in images'
    throw messageError(
      `${place} is ${mediaType ?? 'of no known type'}: accepted files are ${fileTypes.join(' (UTF-8), ')}${advice}`,
    )
  }
  checkSaid(said, mediaType, place)
  return contentOf(bytes, mediaType, name)
}

function checkSaid(said: string | undefined, mediaType: string, place: string): void {
  if (said === undefined || said === mediaType) return
  throw messageError(
    `${place} has the mediaType ${JSON.stringify(said)}, and its bytes are ${mediaType}: correct it, or leave it out`,
  )
}

/** A copy: the program may change its bytes before they are written. */
function bytesOf(data: unknown, place: string): Uint8Array {
  if (!(data instanceof Uint8Array)) throw messageError(`${place} has no bytes: give a Uint8Array`)
  if (data.length >= 1 && data.length <= limits.contentBytesMax) return Uint8Array.from(data)
  throw messageError(
    `${place} has ${data.length} bytes: it must have at least 1 and at most ${limits.contentBytesMax}`,
  )
}
