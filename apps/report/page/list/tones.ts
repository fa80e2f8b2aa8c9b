// The result of a call or a round as a word, a mark and a tone, the same everywhere on the page.
// Colour is never the only sign.

import type { ResultStatus } from '../../../../shared/contract/messages.ts'
import type { CallTimeline } from '../../../../shared/view/timeline.ts'
import type { ShownRound, Tone } from '../data.ts'

export type MarkName =
  | 'check'
  | 'barred'
  | 'shield'
  | 'cross'
  | 'clock'
  | 'dash'
  | 'question'
  | 'speech'
  | 'hollow'
  | 'alarm'
  | 'dots'
  | 'hand'
  | 'hourglass'

export type Mark = { name: MarkName; tone: Tone | 'faint'; word: string }

const statuses: Record<ResultStatus, Mark> = {
  ok: { name: 'check', tone: 'good', word: 'ok' },
  error: { name: 'cross', tone: 'bad', word: 'error' },
  denied: { name: 'shield', tone: 'bad', word: 'denied' },
  timed_out: { name: 'clock', tone: 'bad', word: 'timed out' },
  skipped: { name: 'dash', tone: 'faint', word: 'skipped' },
  unknown: { name: 'question', tone: 'warning', word: 'outcome unknown' },
  unseen: { name: 'question', tone: 'faint', word: 'result not seen' },
}

const open: Mark = { name: 'dots', tone: 'warning', word: 'open' }

const wait: Mark = { name: 'hourglass', tone: 'faint', word: 'a wait, which is no repetition' }

/** A wait that ended well is no progress, so its mark is faint. */
export function markOfCall({ result, waits }: Pick<CallTimeline, 'result' | 'waits'>): Mark {
  if (result === null) return open
  const mark = statuses[result.status]
  if (!waits) return mark
  const tone = mark.tone === 'good' ? wait.tone : mark.tone
  return { name: wait.name, tone, word: `${mark.word}, a wait` }
}

/** The mark of each call. A round without calls has the mark of its response or failure. */
export function marksOfRound({ calls, response, failure, endedAt }: ShownRound): Mark[] {
  if (calls.length > 0) return calls.map(markOfCall)
  if (failure !== null) return [{ name: 'alarm', tone: 'bad', word: 'no response' }]
  if (response === null)
    return [endedAt === null ? open : { name: 'hollow', tone: 'warning', word: 'no response' }]
  if (response.text.trim() !== '') return [{ name: 'speech', tone: 'good', word: 'text' }]
  return [
    {
      name: 'hollow',
      tone: 'warning',
      word: response.reasoning === null ? 'empty' : 'only thinking',
    },
  ]
}

export const legend: Mark[] = [
  ...Object.values(statuses),
  { name: 'speech', tone: 'good', word: 'text, no call' },
  { name: 'hollow', tone: 'warning', word: 'empty, or only thinking' },
  { name: 'alarm', tone: 'bad', word: 'no response' },
  { name: 'hand', tone: 'warning', word: 'the loop-detector stepped in' },
  wait,
  open,
]
