// Texts within a bound. A cut text stays well-formed: an encoder would replace half a character.
// Short texts appear in logs, on screens and in lines of larger texts. They come from outside and
// therefore become one harmless line first.

import { stripVTControlCharacters } from 'node:util'

/**
 * The longest beginning of `text` that takes at most `bytesMax` bytes in UTF-8 and ends between
 * characters.
 */
export function cutToBytes(text: string, bytesMax: number): string {
  if (
    text.length * 3 <= bytesMax ||
    (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax)
  )
    return text
  // At most this many characters fit. The rest may be 100 MB and is not read.
  return text.slice(
    0,
    new TextEncoder().encodeInto(text.slice(0, bytesMax), new Uint8Array(bytesMax)).read,
  )
}

/** At most `bytesMax` bytes (3 or more) in UTF-8. A cut text ends in an ellipsis. */
export function shortened(text: string, bytesMax: number): string {
  const cut = cutToBytes(text, bytesMax)
  return cut === text ? text : `${cutToBytes(text, bytesMax - 3)}…`
}

/** The text with a full stop, unless it ends a sentence already. */
export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

/** The characters read for one line. Removing terminal codes is quadratic on some texts. */
const lineCharactersMax = 4_096

/**
 * The beginning of the text on one line, without terminal codes and other invisible characters. It
 * is safe to print and cannot look like a line of Weir.
 */
export function onOneLine(text: string): string {
  if (text.length <= lineCharactersMax && !/[^ -~]| {2}/.test(text)) return text.trim() // nearly all texts
  return stripVTControlCharacters(text.slice(0, lineCharactersMax))
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
}
