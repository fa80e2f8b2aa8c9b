// The results that Weir itself gives to a call, as text for the model, and the bounds of every
// result.
// `skipped` and `denied` mean that no try ever ran (R5). After a lapsed try, which may
// have run, the result is unknown at best.

import {
  type CallEnding,
  outcomeUnknown,
  skippedCall,
  type WhyNotRun,
} from '../../shared/contract/call/call-endings.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { CallResult } from '../../shared/contract/messages.ts'
import { cutToBytes, shortened } from '../../shared/lib/text-cut.ts'
import { cutNote, earlierTry } from '../../shared/model-texts/endings.ts'

/**
 * The end of a call without a claim. Skipped, unless an earlier try lapsed: that one may have run.
 */
export function notRun(why: WhyNotRun, lapsed: boolean): CallEnding {
  if (lapsed) {
    const what = why === 'cancelled' ? 'the turn was cancelled' : 'the time for this turn was over'
    return outcomeUnknown(
      earlierTry(`${what} before it could be tried again`),
      'no result of an earlier try',
    )
  }
  return skippedCall(why)
}

/** The result within its bounds. `bytesMax` bounds text and reason together. */
export function bounded(result: CallResult, bytesMax: number = limits.resultBytesMax): CallResult {
  const reason = shortened(result.reason, Math.max(3, Math.min(limits.reasonBytesMax, bytesMax)))
  const text = cutWithNote(
    result.text,
    Math.max(0, Math.min(limits.resultBytesMax, bytesMax - Buffer.byteLength(reason))),
  )
  const guard = cutToBytes(result.guard, limits.guardNameBytesMax)
  const isWithin = text === result.text && reason === result.reason && guard === result.guard
  return isWithin ? result : { ...result, text, reason, guard }
}

/**
 * Truncates a text above the bound, with a note if the bound leaves room for it. The note of a text
 * that was cut before keeps its number.
 */
export function cutWithNote(text: string, bytesMax: number): string {
  if (cutToBytes(text, bytesMax) === text) return text
  const bytes = Math.max(Buffer.byteLength(text), Number(cutBefore.exec(text)?.[1] ?? 0))
  const note = cutNote(bytes)
  return note.length > bytesMax
    ? cutToBytes(text, bytesMax)
    : cutToBytes(text, bytesMax - note.length) + note
}

const cutBefore = /\n\[cut: this is the beginning of (\d{1,15}) bytes\](\n\[[^\n]*\])?$/

/** Bytes that `bounded` bounds. */
export function bytesOf(result: CallResult): number {
  return Buffer.byteLength(result.text) + Buffer.byteLength(result.reason)
}
