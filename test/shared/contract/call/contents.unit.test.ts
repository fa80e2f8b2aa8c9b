import { describe, expect, it } from '@jest/globals'
import {
  contentNote,
  contentOf,
  contentPieceBytesMax,
  contentRef,
  contentsFault,
  isPossiblePiece,
  mediaTypeOf,
  piecesOf,
} from '../../../../shared/contract/call/contents.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { png } from '../../../support/contents.ts'

describe('the media type of a content', () => {
  it.each([
    ['image/png', png()],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
    ['image/gif', Buffer.from('GIF89a..')],
    ['image/webp', Buffer.from('RIFF\x01\x02\n\x03WEBPVP8 ')],
    ['application/pdf', Buffer.from('%PDF-1.7\n')],
    ['text/plain', Buffer.from('grün, 18 °C\n')],
    [undefined, Buffer.from('PK\x03\x04 a zip')],
    [undefined, Buffer.from([0xfe, 0xff, 0x80])],
    [undefined, Buffer.alloc(0)],
  ])('is %s by its first bytes', (type, data) => {
    expect(mediaTypeOf(data)).toBe(type)
  })
})

describe('a content', () => {
  it('is cut into pieces that make it again', () => {
    const data = png(contentPieceBytesMax + 1)
    const content = contentOf(data, 'image/png')
    const pieces = piecesOf(content)
    expect(pieces.map(({ data: { length } }) => length)).toEqual([contentPieceBytesMax, 1])
    expect(Buffer.concat(pieces.map((piece) => piece.data)).equals(data)).toBe(true)
    expect(pieces.every(isPossiblePiece)).toBe(true)
    expect(contentsFault('the message', [contentRef(content)])).toBeUndefined()
  })

  it('has a note with type, size and hash, and without the bytes', () => {
    const { hash } = contentOf(Buffer.from('hello'), 'text/plain', 'a.txt')
    expect(contentNote(contentOf(Buffer.from('hello'), 'text/plain', 'a.txt'))).toBe(
      `[file "a.txt": text/plain, 5 bytes, sha256 ${hash.slice(0, 16)}]`,
    )
  })

  const good = contentRef(contentOf(png(), 'image/png'))
  it.each([
    ['has no SHA-256', { ...good, hash: '../../etc/passwd' }],
    ['has a media type that Weir does not accept', { ...good, mediaType: 'image/svg+xml' }],
    ['bytes; at least 1', { ...good, bytes: limits.contentBytesMax + 1 }],
    ['bytes; at least 1', { ...good, bytes: 0 }],
    ['in 9 pieces', { ...good, pieces: 9 }],
    ['has a name of 257 bytes', { ...good, name: 'n'.repeat(257) }],
  ])('is refused if it %s', (fault, content) => {
    expect(contentsFault('the message', [content])).toContain(fault)
  })

  it('is refused with too many others, and with too many bytes together', () => {
    const many = Array.from({ length: limits.contentsMax + 1 }, () => good)
    expect(contentsFault('the message', many)).toContain('at most 16 are taken')
    const bytes = limits.contentBytesMax
    const large = { ...good, bytes, pieces: Math.ceil(bytes / contentPieceBytesMax) }
    expect(contentsFault('the message', [large, large])).toContain('the images and files of')
  })
})
