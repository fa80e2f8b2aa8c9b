// Texts within a bound: what is cut stays well-formed, because half a character would be written as
// another one. Short texts are shown in logs, on screens and in lines of larger texts; they come
// from outside, so they are made one harmless line first.

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
  // No more than that many characters fit, and the rest may be 100 MB that nobody needs to look at.
  return text.slice(
    0,
    new TextEncoder().encodeInto(text.slice(0, bytesMax), new Uint8Array(bytesMax)).read,
  )
}

/** At most `bytesMax` bytes (3 or more) in UTF-8; a text that was cut ends in an ellipsis. */
export function shortened(text: string, bytesMax: number): string {
  const cut = cutToBytes(text, bytesMax)
  return cut === text ? text : `${cutToBytes(text, bytesMax - 3)}…`
}

/**
 * Characters that are looked at to make a line: removing terminal codes takes quadratic time on
 * some texts, and no line is meant to be longer.
 */
const lineCharactersMax = 4_096

/**
 * The beginning of the text on one line, without terminal codes and other characters that cannot be
 * seen: what is left can be printed, and cannot look like a line of ours.
 */
export function onOneLine(text: string): string {
  if (text.length <= lineCharactersMax && !/[^ -~]| {2}/.test(text)) return text.trim() // as nearly all are: there is nothing to remove
  return stripVTControlCharacters(text.slice(0, lineCharactersMax))
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
}
