// Contents: the images and files of a message or of a result. A record names them by hash; their
// bytes are pieces in the table `history`.
// Owns: the accepted media types, their recognition, the pieces, the text that describes a content.
// Does not own: the form in which a provider gets them (shared/wire/request/contents.ts).
//
// The media type is that of the first bytes, never that of a name or of a claim.
// Nobody renders a content. People and logs get its type, its size and its hash.

import { hash } from 'node:crypto'
import { limits } from '../limits.ts'
import type { Content } from '../messages.ts'

/** Bytes of a piece of a content: a record that each Kafka broker accepts. */
export const contentPieceBytesMax = 512 * 1024

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export const fileTypes = ['application/pdf', 'text/plain'] as const

export type MediaType = (typeof imageTypes)[number] | (typeof fileTypes)[number]

/** A content with its bytes. They must not change. */
export type WholeContent = Content & { data: Uint8Array }

const beginnings: readonly { type: MediaType; test: (begin: string) => boolean }[] = [
  { type: 'image/png', test: (begin) => begin.startsWith('\x89PNG\r\n\x1a\n') },
  { type: 'image/jpeg', test: (begin) => begin.startsWith('\xff\xd8\xff') },
  { type: 'image/gif', test: (begin) => /^GIF8[79]a/.test(begin) },
  { type: 'image/webp', test: (begin) => /^RIFF[\s\S]{4}WEBP/.test(begin) },
  { type: 'application/pdf', test: (begin) => begin.startsWith('%PDF-') },
]

/** Control characters that no text has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they tell text from binary data
const binary = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

/** The media type of these bytes. Undefined: none that Weir accepts. */
export function mediaTypeOf(data: Uint8Array): MediaType | undefined {
  const begin = Buffer.from(data.subarray(0, 16)).toString('latin1')
  const found = beginnings.find(({ test }) => test(begin))
  if (found !== undefined) return found.type
  return data.length > 0 && isText(data) ? 'text/plain' : undefined
}

function isText(data: Uint8Array): boolean {
  try {
    return !binary.test(new TextDecoder('utf-8', { fatal: true }).decode(data))
  } catch {
    return false
  }
}

export function isImage({ mediaType }: Pick<Content, 'mediaType'>): boolean {
  return (imageTypes as readonly string[]).includes(mediaType)
}

/** `name`: of a file; empty for an image. */
export function contentOf(data: Uint8Array, mediaType: MediaType, name = ''): WholeContent {
  return {
    hash: hash('sha256', data),
    mediaType,
    bytes: data.length,
    name,
    data,
    pieces: Math.ceil(data.length / contentPieceBytesMax),
  }
}

/** The reference that records hold. */
export function contentRef({ hash, mediaType, bytes, pieces, name }: Content): Content {
  return { hash, mediaType, bytes, pieces, name }
}

export function piecesOf({ data, hash, pieces }: WholeContent): {
  hash: string
  piece: number
  data: Buffer
}[] {
  const size = contentPieceBytesMax
  return Array.from({ length: pieces }, (_, piece) => ({
    hash,
    piece,
    data: Buffer.from(data.subarray(piece * size, (piece + 1) * size)),
  }))
}

/** Whether a piece that a client or a tool wrote can belong to a content. */
export function isPossiblePiece({
  hash,
  piece,
  data,
}: {
  hash: string
  piece: number
  data: Uint8Array
}): boolean {
  return (
    hashForm.test(hash) &&
    piece >= 0 &&
    piece < piecesMax &&
    data.length > 0 &&
    data.length <= contentPieceBytesMax
  )
}

const hashForm = /^[0-9a-f]{64}$/
const piecesMax = Math.ceil(limits.contentBytesMax / contentPieceBytesMax)

/** The reason to refuse these references. Undefined: none. `owner`: as `the message`. */
export function contentsFault(owner: string, contents: readonly Content[]): string | undefined {
  if (contents.length > limits.contentsMax)
    return `${owner} has ${contents.length} images and files; at most ${limits.contentsMax} are taken`
  const bytes = contents.reduce((sum, content) => sum + content.bytes, 0)
  for (const content of contents) {
    const fault = contentFault(content)
    if (fault !== undefined) return `${owner} has a content that ${fault}`
  }
  if (bytes > limits.contentsBytesMax)
    return `the images and files of ${owner} have ${bytes} bytes; at most ${limits.contentsBytesMax} are taken`
  return undefined
}

function contentFault({ hash, mediaType, bytes, pieces, name }: Content): string | undefined {
  if (!hashForm.test(hash)) return 'has no SHA-256 as its hash'
  if (!([...imageTypes, ...fileTypes] as readonly string[]).includes(mediaType))
    return `has a media type that Weir does not accept; accepted are ${[...imageTypes, ...fileTypes].join(', ')}`
  if (!(bytes >= 1 && bytes <= limits.contentBytesMax))
    return `has ${bytes} bytes; at least 1 and at most ${limits.contentBytesMax} are taken`
  if (pieces !== Math.ceil(bytes / contentPieceBytesMax))
    return `has ${bytes} bytes in ${pieces} pieces; a piece has ${contentPieceBytesMax} bytes`
  const nameBytes = Buffer.byteLength(name)
  if (nameBytes > limits.contentNameBytesMax)
    return `has a name of ${nameBytes} bytes; at most ${limits.contentNameBytesMax} are taken`
  return undefined
}

/** A line for the model, for people and for loop keys: equal contents have equal lines. */
export function contentNote({ hash, mediaType, bytes, name }: Content): string {
  const what = isImage({ mediaType }) ? 'image' : `file ${JSON.stringify(name)}`
  return `[${what}: ${mediaType}, ${bytes} bytes, sha256 ${hash.slice(0, 16)}]`
}
