// Watches the registration of the guard in this process. Others may remove it, replace it or switch
// its mode at any time; the guard continues to answer.

import type { Logger } from 'pino'
import { messageOf } from '../../../shared/codec/message-of.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import type { GuardInForce } from '../../../shared/contract/messages.ts'
import { guardKeyPrefix } from '../../../shared/contract/topology.ts'
import { registeredGuards } from '../../../shared/runtime/guards/guard-registry.ts'

export type WatchOptions = {
  bus: Bus
  topicPrefix: string
  inForce: GuardInForce
  log: Pick<Logger, 'warn'>
  signal: AbortSignal
  /** Called on each change with its text. Undefined: the guard is in force as it runs. */
  changed(text: string | undefined): void
}

/** Logs each change at `warn`. Resolves on abort. Rejects if `policies` cannot be read. */
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
  const modesOf = (guard: Pick<GuardInForce, 'tools'>) =>
    guard.tools.map(({ pattern, mode }) => `${mode} for ${pattern}`).join(', ')
  let known = `${version}: ${modesOf(inForce)}`
  const compare = (now: GuardInForce | undefined): void => {
    const next = now === undefined ? 'removed' : `${now.version}: ${modesOf(now)}`
    if (next === known) return
    known = next
    const text = outOfForce(now, version)
    changed(text)
    log.warn({ guard: name, version }, text ?? `the guard is now ${next}`)
  }
  const [policies] = await bus.ends(topic)
  compare((await registeredGuards({ bus, topicPrefix })).find((guard) => guard.name === name)) // changes since the start
  for await (const records of bus.follow({
    topic,
    partition: 0,
    from: policies?.end ?? 0,
    signal,
  })) {
    for (const record of records) {
      if (record.key !== key) continue
      const message = messageOf(record.value)
      compare(message?.type === 'guard-registration' ? message : undefined)
    }
  }
}

function outOfForce(now: GuardInForce | undefined, version: string): string | undefined {
  if (now === undefined) return 'it is removed: no further call waits for it'
  return now.version === version ? undefined : `it is superseded by version ${now.version}`
}
