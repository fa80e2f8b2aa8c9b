// Whether the guard that this process runs is still the one in force: others may remove it, take
// its place or switch it at any time, and it goes on answering.

import type { Logger } from 'pino'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { GuardInForce } from '../../../shared/contract/messages.ts'
import { guardKeyPrefix } from '../../../shared/contract/topology.ts'
import { registeredGuards } from '../../../shared/runtime/guards/register.ts'
import { messageOf } from '../../history/message-of.ts'

export type WatchOptions = {
  bus: Bus
  topicPrefix: string
  inForce: GuardInForce
  log: Pick<Logger, 'warn'>
  signal: AbortSignal
  /** What became of it, in words, at each change; undefined: it is in force as it runs. */
  changed(text: string | undefined): void
}

/**
 * Logs each change at `warn`. Resolves when it is aborted; rejects where `policies` cannot be read.
 */
export async function watchRegistration({
  bus,
  topicPrefix,
  inForce,
  log,
  signal,
  changed,
}: WatchOptions): Promise<void> {
  const { name, version } = inForce
  const topic = `${topicPrefix}policies`
  const key = guardKeyPrefix + name
  const wordOf = (guard: Pick<GuardInForce, 'tools'>) =>
    guard.tools.map(({ pattern, mode }) => `${mode} for ${pattern}`).join(', ')
  let known = `${version}: ${wordOf(inForce)}`
  const look = (now: GuardInForce | undefined): void => {
    const next = now === undefined ? 'removed' : `${now.version}: ${wordOf(now)}`
    if (next === known) return
    known = next
    const text = outOfForce(now, version)
    changed(text)
    log.warn({ guard: name, version }, text ?? `the guard is now ${next}`)
  }
  const [policies] = await bus.ends(topic)
  look((await registeredGuards({ bus, topicPrefix })).find((guard) => guard.name === name)) // what came between
  for await (const records of bus.follow({
    topic,
    partition: 0,
    from: policies?.end ?? 0,
    signal,
  })) {
    for (const record of records) {
      if (record.key !== key) continue
      const message = messageOf(record.value)
      look(message?.type === 'guard-registration' ? message : undefined)
    }
  }
}

function outOfForce(now: GuardInForce | undefined, version: string): string | undefined {
  if (now === undefined) return 'it is removed: it is asked about no call any more'
  return now.version === version ? undefined : `it is superseded by version ${now.version}`
}
