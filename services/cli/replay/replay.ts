// `weir replay`: every stage's decisions again, from the log alone, compared with what was written; or, with another policy or a further guard, what would
// have been decided otherwise. No model, no tool: nothing that this file imports can reach one.
// Exit codes: 0 the same, or what was asked is told; 1 something differs; 2 trouble (main.ts).

import { WeirError } from '../../../shared/errors.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { OpenLog } from '../open-log.ts'
import { withLog } from '../open-log.ts'
import { instantOfFlag } from '../tail/instant-text.ts'
import type { Period } from './log-range.ts'
import { printReplayed, replayedJson } from './print-replayed.ts'
import { replayLog } from './replay-log.ts'

export type ReplayOptions = {
  conversation?: string
  since?: string
  until?: string
  full?: boolean
  json?: boolean
}

/** Resolves to the exit code. */
export async function replay(options: ReplayOptions, settings: Settings, out: NodeJS.WriteStream): Promise<0 | 1> {
  const period = periodOf(options, Date.now())
  return withLog(settings, (log) => compare(log, { ...options, ...period }, settings, out))
}

async function compare(
  log: OpenLog,
  { conversation, json = false, full = false, ...period }: Omit<ReplayOptions, 'since' | 'until'> & Period,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const { progress } = log
  // Of the embedded bus a step is written whole, so there nothing is on its way.
  const replayed = await replayLog({ log, conversation, ...period, grows: settings.bus === 'kafka', now: log.bus.clock.now(), progress })
  progress.end()
  if (conversation !== undefined && replayed.tally.same === 0 && replayed.differences === 0 && replayed.tally.unjudged === 0)
    throw new WeirError('conversation.unknown', `the log has nothing of a conversation ${JSON.stringify(conversation)} in that time`)
  if (json) out.write(`${replayedJson(replayed)}\n`)
  else printReplayed(replayed, { full }, out)
  return replayed.differences === 0 ? 0 : 1
}

/** Throws `usage`. */
function periodOf({ since, until }: ReplayOptions, now: number): Period {
  const period = {
    since: since === undefined ? undefined : instantOfFlag('--since', since, now),
    until: until === undefined ? undefined : instantOfFlag('--until', until, now),
  }
  if (period.since !== undefined && period.until !== undefined && period.since >= period.until)
    throw new WeirError('usage', `--since ${since} is not before --until ${until}: there is nothing between them`)
  return period
}
