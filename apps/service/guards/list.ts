// `weir guard list`: the registered guards with their recent counts. Changes nothing, and works
// next to a running Weir.

import { endsOf } from '../../../client/history/readable-log.ts'
import { batchesOf, firstOffsetSince } from '../../../shared/bus/range.ts'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type {
  GuardRegistration,
  GuardVerdict,
  GuardVerdictGiven,
  Message,
} from '../../../shared/contract/messages.ts'
import {
  type GuardTopicName,
  guardTopicName,
  type TopicName,
} from '../../../shared/contract/topology.ts'
import { type Milliseconds, systemClock } from '../../../shared/lib/clock.ts'
import { modeOf, registeredGuards } from '../../../shared/runtime/guards/guard-registry.ts'
import type { OpenLog } from '../../history/open-log.ts'
import { painted } from '../../terminal/paint.ts'
import { instantOfFlag } from '../../terminal/text/instant-text.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import type { SettingList } from '../setting-command.ts'
import { createTally, type GuardTally } from './tally.ts'

/** `--json`: one object per line. `mode`: `mixed` if it enforces for some of its tools only. */
export type ListedGuard = Pick<
  GuardRegistration,
  'name' | 'version' | 'tools' | 'deadlineMs' | 'onTimeout'
> & {
  mode: 'enforce' | 'shadow' | 'mixed'
} & GuardTally

export const guardList: SettingList<{ since?: string }, ListedGuard> = {
  read({ since = '24h ago' }) {
    const from = instantOfFlag('--since', since, systemClock.now())
    return (log) => listedGuards(log, { since: from })
  },
  lines: guardLines,
  none: 'no guard is registered: weir guard run FILE registers one',
}

/**
 * `recordsMax`: of each partition, the newest; default: all. `onVerdict`, `onSilence`: called for the
 * records that count.
 */
export type GuardCounting = {
  since: Milliseconds
  recordsMax?: number
  onVerdict?(guard: string, verdict: GuardVerdict, time: Milliseconds): void
  onSilence?(given: GuardVerdictGiven, time: Milliseconds): void
}

export async function listedGuards(
  log: Pick<OpenLog, 'bus' | 'topicPrefix'>,
  { onVerdict, onSilence, ...range }: GuardCounting,
): Promise<ListedGuard[]> {
  const guards = await registeredGuards(log)
  const tally = createTally()
  for (const { name } of guards)
    await eachSince(log, guardTopicName(name), range, (message, time) => {
      if (message.type !== 'guard-verdict' || !tally.addVerdict(name, message, time)) return
      onVerdict?.(name, message, time)
    })
  if (guards.length > 0)
    await eachSince(log, 'activity', range, (message, time) => {
      if (message.type !== 'guard-verdict-given' || !tally.addDecision(message)) return
      onSilence?.(message, time)
    })
  return guards.map(({ name, version, tools, deadlineMs, onTimeout }) => ({
    name,
    version,
    tools,
    deadlineMs,
    onTimeout,
    mode: modeOf({ tools }) ?? 'mixed',
    ...tally.of(name),
  }))
}

/** A missing topic has no records. Skips records that cannot be decoded. */
async function eachSince(
  { bus, topicPrefix }: Pick<OpenLog, 'bus' | 'topicPrefix'>,
  name: TopicName | GuardTopicName,
  { since, recordsMax = Number.POSITIVE_INFINITY }: GuardCounting,
  visit: (message: Message, time: Milliseconds) => void,
) {
  const topic = topicPrefix + name
  for (const { partition, begin, end } of await endsOf({ bus, topicPrefix }, name)) {
    const newest = Math.max(begin, end - recordsMax)
    const from = await firstOffsetSince(bus, { topic, partition, from: newest, to: end }, since)
    for await (const records of batchesOf(bus, { topic, partition, from, to: end })) {
      for (const { value, time } of records) {
        const message = messageOf(value)
        if (message !== undefined) visit(message, time)
      }
    }
  }
}

const whereverTexts = {
  enforce: 'it',
  mixed: 'where it enforces it',
  shadow: 'no call waits for it; where it enforces it',
}

function guardLines(guard: ListedGuard, out: NodeJS.WriteStream): string[] {
  const { name, version, mode, tools, deadlineMs, onTimeout, rounds, late, letThrough } = guard
  const { denied, wouldHaveDenied, asked, wouldHaveAsked, p50Ms, p99Ms, agreement } = guard
  const modes = tools.map((one) => (mode === 'mixed' ? `${one.pattern} ${one.mode}` : one.pattern))
  const title = painted(out, mode === 'shadow' ? 'faint' : 'good', printable(name))
  const otherwise = onTimeout === 'deny' ? 'its calls are denied' : 'its calls go on'
  const lines = [
    `${title} ${printable(version)}: ${mode}, for ${printable(modes.join(', '))}`,
    `    ${whereverTexts[mode]} has ${deadlineMs} ms to answer, otherwise ${otherwise}`,
    `    ${count(rounds, 'round')}, ${count(denied, 'call')} denied, ${wouldHaveDenied} would have been, ${late} late, ${count(letThrough, 'call')} let through unanswered`,
  ]
  if (asked + wouldHaveAsked > 0)
    lines.push(`    ${count(asked, 'call')} sent to a person, ${wouldHaveAsked} would have been`)
  if (p50Ms !== undefined)
    lines.push(
      `    of its answers in time, half came within ${p50Ms} ms, 99 of 100 within ${p99Ms} ms`,
    )
  if (agreement !== undefined)
    lines.push(
      `    agrees with other guards on ${Math.round(agreement * 1000) / 10} % of the calls that they also judge`,
    )
  return lines
}
