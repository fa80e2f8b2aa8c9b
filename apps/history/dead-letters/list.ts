// `weir dead-letters list` and `show`: the records that no stage could process, and the reasons.
// Changes nothing. Works next to a running Weir, and on a bundle.

import { recordView } from '../../../client/history/redacted.ts'
import type { ConversationId } from '../../../shared/contract/ids.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { painted } from '../../terminal/paint.ts'
import { printable, printableJson, printableLines } from '../../terminal/text/printable.ts'
import { instant, second } from '../../terminal/text/quantities.ts'
import { type OpenLog, withLog } from '../open-log.ts'
import {
  contentOf,
  endOfLetters,
  faultOf,
  type Letter,
  type LetterFilter,
  letterNamed,
  lettersIn,
  originalOf,
} from './letters.ts'

/** `--json`: one such object per line. `origin`: the place of the record. */
export type ListedLetter = {
  place: string
  at: string
  conversation: ConversationId
  origin: { topic: string; partition: number; offset: number; at: string }
  stage: string
  code: string
  reason: string
  bytes: number
}

/**
 * A ListedLetter with its record. `base64`: the first bytes, if the record cannot be decoded.
 * `retry`: the reason not to write it again; null: there is none.
 */
export type ShownLetter = ListedLetter & {
  id: string | null
  message: Message | null
  base64: string | null
  retry: string | null
}

export type ListOptions = LetterFilter & { json?: boolean; bundle?: string }

const shownBytesMax = 1024

export async function listDeadLetters(
  options: ListOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const { json = false, bundle } = options
  let found = 0
  let unreadable = 0
  await withLog(
    settings,
    async (log) => {
      const onUnreadable = () => {
        unreadable += 1
      }
      for await (const letter of lettersIn(log, options, onUnreadable)) {
        found += 1
        out.write(json ? `${printableJson(listed(letter))}\n` : `${lineOf(letter, out)}\n`)
      }
    },
    { bundle },
  )
  const end = endOfLetters(found, unreadable)
  if (end !== undefined && !json) out.write(`${end}\n`)
}

/** Throws `usage` if there is no dead letter at that place. */
export async function showDeadLetter(
  place: string,
  { json = false, bundle, unredacted }: { json?: boolean; bundle?: string; unredacted?: boolean },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const shown = await withLog(settings, (log) => shownLetter(log, place), { bundle, unredacted })
  if (json) out.write(`${printableJson(shown)}\n`)
  else print(shown, out)
}

/** Throws `usage` if there is no dead letter at that place. */
export async function shownLetter(log: OpenLog, place: string): Promise<ShownLetter> {
  const letter = await letterNamed(log, place)
  const original = await originalOf(log, letter.letter)
  const content = contentOf(original)
  const isReadable = 'message' in content
  const view = recordView(log)
  return {
    ...listed(letter),
    id: original.id ?? null,
    message: isReadable ? ((await view(content.message)) ?? null) : null,
    base64: isReadable
      ? null
      : Buffer.from(original.value.subarray(0, shownBytesMax)).toString('base64'),
    retry: faultOf(original) ?? null,
  }
}

/** The newest first, at most `most` of them. `total`: of the whole log. */
export async function newestLetters(
  log: OpenLog,
  most: number,
): Promise<{ letters: ListedLetter[]; total: number }> {
  let letters: ListedLetter[] = []
  let total = 0
  const newest = () => letters.sort((a, b) => b.at.localeCompare(a.at)).slice(0, most)
  for await (const letter of lettersIn(log, {})) {
    total += 1
    if (letters.push(listed(letter)) >= 2 * most) letters = newest()
  }
  return { letters: newest(), total }
}

function listed({
  place,
  at,
  letter: { topic, partition, offset, time, key, stage, code, reason, value },
}: Letter): ListedLetter {
  return {
    place,
    at: new Date(at).toISOString(),
    conversation: key,
    origin: { topic, partition, offset, at: new Date(time).toISOString() },
    stage,
    code,
    reason,
    bytes: value.length,
  }
}

function lineOf({ place, at, letter }: Letter, out: NodeJS.WriteStream): string {
  const { stage, code, key, topic, partition, offset, reason } = letter
  const summary = `${second(at)}  ${stage} could not process ${topic}/${partition}/${offset} of ${key}: ${code}`
  return `${painted(out, 'title', printable(place))}  ${printable(summary)}\n    ${printable(reason)}`
}

function print(
  {
    place,
    at,
    conversation,
    origin,
    stage,
    code,
    reason,
    bytes,
    id,
    message,
    base64,
    retry,
  }: ShownLetter,
  out: NodeJS.WriteStream,
): void {
  const lines = [
    `written ${instant(Date.parse(at))} by ${stage}: ${code}`,
    `because ${reason}`,
    `about   ${origin.topic}/${origin.partition}/${origin.offset}, ${instant(Date.parse(origin.at))}, key ${conversation}, ${bytes} bytes${id === null ? '' : `, id ${id}`}`,
    retry === null
      ? `you can write it again: weir dead-letters retry ${place}`
      : `you cannot write it again: ${retry}`,
  ]
  out.write(`${painted(out, 'title', printable(`dead letter ${place}`))}\n`)
  for (const line of lines) out.write(`  ${printable(line)}\n`)
  if (message !== null)
    for (const line of printableLines(JSON.stringify(message, null, 2))) out.write(`  ${line}\n`)
  if (base64 !== null) out.write(`  its first bytes, in base64: ${base64}\n`)
}
