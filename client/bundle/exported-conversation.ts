// `weir.conversation(id).export(file)`: the bundle of one conversation, as `weir export` writes it.

import { createBundle } from '../../shared/bus/bundle/writer.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { emptyFilter } from '../../shared/view/filter/turn-filter.ts'
import { needOptions } from '../given-options.ts'
import type { ReadableLog } from '../history/readable-log.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import { readRedactionRules } from './redaction-rules.ts'
import { type BundleContent, writeBundle } from './written-bundle.ts'

/**
 * `force`: replaces an existing file. `redact`: a file of rules, as of `weir export --redact`. Once
 * `signal` aborts, no file is written. `unredacted`: with the values that the rules of agents hide.
 */
export type ExportOptions = {
  force?: boolean
  redact?: string
  unredacted?: boolean
  signal?: AbortSignal
}

/** `source`: the name of the log's bus. Throws as Conversation.export. */
export async function exportConversation(
  log: Omit<ReadableLog, 'progress'> & { source: string },
  id: ConversationId,
  file: string,
  options: ExportOptions,
): Promise<BundleContent> {
  const asked = { code: 'usage', subject: 'export' } as const
  needOptions(options, { ...asked, example: '{ force: true }' })
  refuseUnknownKeys(options, ['force', 'redact', 'unredacted', 'signal'], asked)
  const { force = false, redact, unredacted, signal = new AbortController().signal } = options
  signal.throwIfAborted()
  const rules = redact === undefined ? [] : readRedactionRules(redact)
  const bundle = createBundle(file, { force })
  const filter = { conversations: new Set([id]), where: emptyFilter() }
  const order = {
    filter,
    rules,
    unredacted,
    bundle,
    source: log.source,
    signal,
    asked: JSON.stringify({ conversation: [id] }),
  }
  const progress = { expect: () => {}, read: () => {} }
  try {
    const nothingFound = () => unknownConversation(id)
    const content = await writeBundle({ ...log, progress }, { ...order, nothingFound })
    if (content === undefined) throw signal.reason
    return content
  } catch (error) {
    bundle.abandon()
    throw error
  }
}

function unknownConversation(id: ConversationId): WeirError {
  return new WeirError(
    'conversation.unknown',
    `no turn of the conversation ${JSON.stringify(id)} is in the log`,
  )
}
