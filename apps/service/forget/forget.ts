// `weir forget`: deletes conversations, and prints the data that is gone and the data that goes later.

import { type Forgotten, forgetConversations } from '../../../client/forget/forget.ts'
import { forgetPlace, selectionOf } from '../../../client/forget/weir-forget.ts'
import { partitionCount } from '../../../client/place/open-bus.ts'
import { personHere } from '../../../services/approval/performer/person.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withExistingRegistry } from '../../history/registry.ts'
import { isConfirmed } from '../../terminal/confirmed.ts'
import { processStreams, type Streams } from '../../terminal/streams.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count, second } from '../../terminal/text/quantities.ts'

export type ForgetFlags = {
  conversation?: string
  user?: string
  tenant?: string
  by?: string
  dryRun?: boolean
  yes?: boolean
  json?: boolean
}

const shownMax = 20

/** The exit code: 1 if the person did not confirm. Throws `usage`, and as forgetConversations. */
export async function forget(
  flags: ForgetFlags,
  settings: Settings,
  streams: Streams = processStreams(),
): Promise<0 | 1> {
  const { by = personHere(), dryRun = false, yes = false, json = false } = flags
  const selection = selectionOf(flags)
  const { out, errors, input } = streams
  // With --json, standard output has the answer alone.
  const people = json ? errors : out
  if (!yes && !dryRun && input.isTTY !== true)
    throw usageError('standard input is not a terminal, so nobody can confirm: give --yes')
  return withExistingRegistry(settings, async ({ bus, topicPrefix }) => {
    const partitions = await partitionCount(bus, topicPrefix)
    const log = forgetPlace({ bus, topicPrefix, partitions }, settings)
    if (dryRun || !yes) {
      const found = await forgetConversations(log, { ...selection, by, dryRun: true })
      if (json && dryRun) out.write(`${printableJson(found)}\n`)
      else people.write(foundLines(found))
      if (dryRun) return 0
      const question = `Delete ${count(found.conversations.length, 'conversation')} for good?`
      if (!(await isConfirmed(question, streams))) {
        people.write('nothing was deleted\n')
        return 1
      }
    }
    const forgotten = await forgetConversations(log, { ...selection, by })
    out.write(json ? `${printableJson(forgotten)}\n` : forgottenLines(forgotten))
    return 0
  })
}

function foundLines({ conversations, open }: Forgotten): string {
  const busy = new Set(open)
  const lines = conversations
    .slice(0, shownMax)
    .map(
      (id) =>
        `${printable(id)}${busy.has(id) ? '   a turn is open: nothing is deleted before its end' : ''}`,
    )
  if (conversations.length > shownMax) lines.push(`and ${conversations.length - shownMax} more`)
  return `${lines.join('\n')}\n`
}

/** The effect, for people. */
export function forgottenLines({
  conversations,
  records,
  isOverwritten,
  isUnreadable,
  until,
}: Forgotten): string {
  const subject = count(conversations.length, 'conversation')
  if (until !== null)
    return [
      `deleted the history of ${subject}: ${count(records, 'record')}`,
      isUnreadable && until !== 'never'
        ? `no process can read the records of topics any more: their keys are deleted, and brokers remove the encrypted bytes of these keys after ${second(until)}`
        : `the records of topics ${untilText(until)}; no screen shows them`,
      '',
    ].join('\n')
  const lines = [`deleted ${subject}: ${count(records, 'record')}`]
  if (!isOverwritten)
    lines.push(
      'bytes of deleted records may be left in unused parts of the file: stop Weir, and run VACUUM on it (docs/operate/data.md)',
    )
  return `${lines.join('\n')}\n`
}

function untilText(until: number | 'never'): string {
  return until === 'never'
    ? 'stay, because retentionDays is 0'
    : `stay until retention has deleted them, by ${second(until)}`
}
