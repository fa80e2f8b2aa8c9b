// Reads the table `policies`: the operator's settings and the registrations of guards.

import { decode } from '../../codec/codec.ts'
import type { Bus } from '../../contract/bus.ts'
import type { Message } from '../../contract/messages.ts'
import type { PerformerContext } from '../../contract/performer.ts'

export function policyReader({
  bus,
  topicPrefix,
}: {
  bus: Pick<Bus, 'get' | 'list'>
  topicPrefix: string
}): Pick<PerformerContext, 'policy' | 'policies'> {
  const table = { topic: `${topicPrefix}policies`, partition: 0 }
  /** By the bytes: a bus that keeps the table returns the same ones again. */
  const decoded = new WeakMap<Uint8Array, Message>()

  function decodedOnce(value: Uint8Array): Message {
    const known = decoded.get(value)
    if (known !== undefined) return known
    const message = frozen(decode(value))
    decoded.set(value, message)
    return message
  }

  return {
    async policy(key) {
      const record = await bus.get({ ...table, key, waitMs: 0 })
      return record?.value ? decodedOnce(record.value) : undefined
    },
    async policies(...prefixes) {
      const [only = '', ...more] = prefixes
      const records = await bus.list({ ...table, prefix: more.length === 0 ? only : '' })
      return records.flatMap(({ key, value, time }) =>
        value === null || !prefixes.some((prefix) => key.startsWith(prefix))
          ? []
          : [{ key, message: decodedOnce(value), time }],
      )
    },
  }
}

/** The value, with all objects and lists in it frozen. Bytes stay as they are. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}
