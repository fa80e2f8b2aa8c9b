// Raw records for a page in compact form. Values that many records share, mainly responses and
// policies, are in the table once.

import type { Logged } from '../../shared/view/logged.ts'
import type { Places, RecordTable } from './page/data.ts'

export type TableBuilder = {
  readonly table: RecordTable
  add(records: readonly Logged[]): Places
}

/** The limit of all values in a table. Beyond it, records have an address and no content. */
const charactersMax = 48 * 1024 * 1024

const undecoded = -1
const leftOut = -2

export function beginTable(): TableBuilder {
  const table: RecordTable = { topics: [], types: [], values: [], rows: [] }
  const topics = new Map<string, number>()
  const types = new Map<string, number>()
  const places = new Map<string, number>()
  let characters = 0

  function numberOf<T>(known: Map<string, number>, key: string, list: T[], make: () => T): number {
    const found = known.get(key)
    if (found !== undefined) return found
    known.set(key, list.length)
    return list.push(make()) - 1
  }

  function placeOf(value: unknown): number {
    const text = typeof value === 'number' ? `${value}` : (JSON.stringify(plain(value)) ?? 'null')
    const found = places.get(text)
    if (found !== undefined) return found
    characters += text.length
    places.set(text, table.values.length)
    return table.values.push(plain(value)) - 1
  }

  function row({ topic, offset, time, id = '', message }: Logged): (string | number)[] {
    const cells = [numberOf(topics, topic, table.topics, () => topic), offset, time, id]
    if (message === undefined) cells.push(undecoded)
    else if (characters > charactersMax) cells.push(leftOut)
    else {
      const fields = Object.keys(message).filter((key) => key !== 'type')
      cells.push(
        numberOf(types, `${message.type} ${fields.join()}`, table.types, () => ({
          type: message.type,
          fields,
        })),
      )
      for (const field of fields) cells.push(placeOf(Reflect.get(message, field)))
    }
    return cells
  }

  return {
    table,
    add(records) {
      const from = table.rows.length
      for (const record of records) table.rows.push(row(record))
      return [from, table.rows.length]
    },
  }
}

/** Bytes become base64: JSON would make an object of numbers of them. */
function plain(value: unknown): unknown {
  return value instanceof Uint8Array
    ? { base64: Buffer.from(value).toString('base64') }
    : (value ?? null)
}
