// `weir export -o FILE` writes conversations, or a stretch of time, into one file: a bundle to
// keep, send, inspect and replay. The file exists only if the exit code is 0.

import { readRedactionRules } from '../../../client/bundle/redaction-rules.ts'
import type { Selection } from '../../../client/bundle/selection.ts'
import { type BundleContent, writeBundle } from '../../../client/bundle/written-bundle.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { listingCommand } from '../../history/conversations/listing-command.ts'
import { type FilterOptions, filterOf } from '../../history/filter-options.ts'
import { missingBeginning } from '../../history/missing-beginning.ts'
import { withLog } from '../../history/open-log.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { makeBundle } from '../make-bundle.ts'

/** `redact`: a file of rules. `bundle`: the source, instead of the log. */
export type ExportOptions = FilterOptions & {
  conversation?: string[]
  output: string
  force?: boolean
  redact?: string
  unredacted?: boolean
  bundle?: string
}

/** Throws `usage`, `output.*`, and `conversation.unknown` if no turn matches. */
export async function exportBundle(
  options: ExportOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 130> {
  const { output, redact, unredacted, conversation, since, until, where, text } = options
  const filter = { conversations: new Set(conversation), where: filterOf(options) }
  const rules = redact === undefined ? [] : readRedactionRules(redact)
  return makeBundle(options, out, async (bundle, signal) => {
    const order = {
      filter,
      rules,
      unredacted,
      bundle,
      source: settings.bus,
      signal,
      asked: JSON.stringify({ conversation, since, until, where, text }),
      nothingFound: (selection: Selection) => nothingFound(options, selection),
    }
    const content = await withLog(settings, (log) => writeBundle(log, order), {
      bundle: options.bundle,
      signal,
    })
    return content && `${output}: ${summaryOf(content)}\n`
  })
}

/** The line that the command prints. */
function summaryOf(content: BundleContent): string {
  const {
    conversations,
    turns,
    records,
    openTurns: open,
    cutTurns: cut,
    leftOut,
    isRedacted,
  } = content
  return [
    `${count(conversations, 'conversation')}, ${count(turns, 'turn')}, ${count(records, 'record')}`,
    ...(open > 0 ? [`; ${count(open, 'turn')} had not ended`] : []),
    ...(cut > 0 ? [`; ${missingBeginning(count(cut, 'turn'))}`] : []),
    ...(isRedacted ? ['; redacted, so a replay can decide differently from the log'] : []),
    ...(leftOut > 0
      ? [
          `; left out (unreadable, late parts of a stream, or an image or a file in a redaction): ${count(leftOut, 'record')}`,
        ]
      : []),
  ].join('')
}

function nothingFound(
  { conversation = [], bundle }: ExportOptions,
  { others }: Selection,
): WeirError {
  const which =
    conversation.length > 0
      ? `conversation ${conversation.map((id) => printable(id)).join(', ')}`
      : 'any conversation'
  const there = [...others].map(([key, values]) =>
    values.length === 0 ? `no ${key}` : `${key} ${printable(values.join(', '))}`,
  )
  const has = there.length === 0 ? '' : `. The turns of this log have ${there.join(' and ')}`
  return new WeirError(
    'conversation.unknown',
    `no turn of ${which} in the log matches${has}. To list the conversations, run ${listingCommand(bundle)}`,
  )
}
