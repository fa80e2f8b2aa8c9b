// The schemas of newer formats, as the table `policies` keeps them. A newer Weir writes them before its
// first record with such a schema, so a reader that meets an unknown id finds the schema there.

import { type LearnedSchema, learn } from '../../codec/codec.ts'
import { messageOf } from '../../codec/message-of.ts'
import type { Bus } from '../../contract/bus.ts'
import { formatKeyPrefix } from '../../contract/topology.ts'
import { WeirError } from '../../lib/errors.ts'
import { isObject, jsonIn } from '../../lib/json/json-object.ts'

/** Learns all schemas in the table. None, if there is no table or this user may not read it. */
export async function learnSchemas(bus: Pick<Bus, 'list'>, topicPrefix: string): Promise<void> {
  const table = { topic: `${topicPrefix}policies`, partition: 0, upToNow: true }
  const records = await bus.list({ ...table, prefix: formatKeyPrefix }).catch(noneIfUnreadable)
  for (const { value } of records) {
    const message = messageOf(value)
    if (message?.type === 'format-schemas') learn(schemasIn(message.schemas))
  }
}

export function noneIfUnreadable(error: unknown): never[] {
  if (error instanceof WeirError && unreadable.includes(error.code)) return []
  throw error
}

const unreadable = ['bus.topic-missing', 'bus.unauthorized', 'bus.not-a-database']

/** Leaves out items that are no schema. Their use is checked when a record is read. */
export function schemasIn(text: string): LearnedSchema[] {
  const list = jsonIn(text)
  return Array.isArray(list) ? list.filter(isSchema) : []
}

function isSchema(value: unknown): value is LearnedSchema {
  if (!isObject(value) || !isObject(value.schema)) return false
  const { id, type, version, schema } = value
  return (
    Number.isInteger(id) &&
    typeof type === 'string' &&
    Number.isInteger(version) &&
    schema.type === 'record'
  )
}
