// Reads the table `policies`: the operator's settings and the registrations of guards.

import { decode } from '../codec/codec.ts'
import type { Bus } from '../contract/bus.ts'
import type { PerformerContext } from '../contract/performer.ts'

export function policyReader({
  bus,
  topicPrefix,
}: {
  bus: Pick<Bus, 'get' | 'list'>
  topicPrefix: string
}): Pick<PerformerContext, 'policy' | 'policies'> {
  const table = { topic: `${topicPrefix}policies`, partition: 0 }
  return {
    async policy(key) {
      const record = await bus.get({ ...table, key, waitMs: 0 })
      return record?.value ? decode(record.value) : undefined
    },
    async policies(...prefixes) {
      const [only = '', ...more] = prefixes
      const records = await bus.list({ ...table, prefix: more.length === 0 ? only : '' })
      return records.flatMap(({ key, value, time }) =>
        value === null || !prefixes.some((prefix) => key.startsWith(prefix))
          ? []
          : [{ key, message: decode(value), time }],
      )
    },
  }
}
