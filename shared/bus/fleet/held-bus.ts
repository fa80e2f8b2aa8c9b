// A bus that writes in the format in force: it follows the table `policies`, and limits the schemas of the
// observed records that this process writes. The outputs of a fold have no limit, because they depend only
// on the log: an input of a newer format proves that the format was in force.
// HELD-BUS-1. Before the first answer of the table, format 1 is in force: an older reader may run.

import type { Logger } from 'pino'
import { hold } from '../../codec/codec.ts'
import { messageOf } from '../../codec/message-of.ts'
import type { Bus, StoredRecord } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { FleetFormat } from '../../contract/messages.ts'
import { fleetFormatKey } from '../../contract/topology.ts'
import { pause } from '../../lib/pause.ts'
import { noneIfUnreadable } from './schemas-in-log.ts'

/** The record in force. Undefined: none was written, so format 1 is in force. */
export async function fleetFormat(
  bus: Pick<Bus, 'list'>,
  topicPrefix: string,
): Promise<FleetFormat | undefined> {
  const table = { topic: `${topicPrefix}policies`, partition: 0, upToNow: true }
  const records = await bus.list({ ...table, prefix: fleetFormatKey }).catch(noneIfUnreadable)
  return records.map(formatIn).find((format) => format !== undefined)
}

/**
 * Resolves when the format in force is known. Its `close` ends the limit. Closes `bus` if its table cannot be
 * read, and throws the error.
 */
export async function heldBus(bus: Bus, topicPrefix: string, log: Logger): Promise<Bus> {
  const holder = {}
  const closed = new AbortController()
  const topic = `${topicPrefix}policies`
  const place = { topic, partition: 0, signal: closed.signal }
  hold(holder, 1)
  await readFormat().catch(async (error: unknown) => {
    await close()
    throw error
  })
  void follow()

  return { ...bus, close }

  async function close(): Promise<void> {
    closed.abort()
    try {
      await bus.close()
    } finally {
      hold(holder, undefined)
    }
  }

  async function readFormat(): Promise<void> {
    apply(await fleetFormat(bus, topicPrefix))
  }

  async function follow(): Promise<void> {
    while (!closed.signal.aborted) {
      try {
        const [ends] = await bus.ends(topic, [0])
        if (ends !== undefined) {
          await readFormat() // a record before these ends
          for await (const records of bus.follow({ ...place, from: ends.end }))
            for (const record of records) apply(formatIn(record))
        }
      } catch (error) {
        log.debug({ err: error }, 'the format in force cannot be followed now')
      }
      await pause(bus.clock, limits.fleetLookMs, closed.signal)
    }
  }

  function apply(format: FleetFormat | undefined): void {
    if (format !== undefined && !closed.signal.aborted) hold(holder, format.format)
  }
}

export function formatIn({ key, value }: StoredRecord): FleetFormat | undefined {
  if (key !== fleetFormatKey) return undefined
  const message = messageOf(value)
  return message?.type === 'fleet-format' && message.format > 0 ? message : undefined
}
