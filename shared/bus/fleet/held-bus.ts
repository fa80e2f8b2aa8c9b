// A bus that writes in the format in force: it follows the table `policies`, and limits the schemas of the
// observed records that this process writes. The outputs of a fold have no limit, because they depend only
// on the log: an input with newer parts proves that their format was in force. The codec writes an output
// without such parts in a closed format.
// Before the first answer of the table, format 1 is in force: an older reader may run.

import type { Logger } from 'pino'
import { hold } from '../../codec/codec.ts'
import { messageOf } from '../../codec/message-of.ts'
import type { Bus, StoredRecord } from '../../contract/bus.ts'
import { limits } from '../../contract/limits.ts'
import type { FleetFormat } from '../../contract/messages.ts'
import { fleetFormatKey, fleetPinKey } from '../../contract/topology.ts'
import { pause } from '../../lib/pause.ts'
import { onceAnswered } from '../once-answered.ts'
import { noneIfUnreadable } from './schemas-in-log.ts'

/** The record in force. Undefined: none was written, so format 1 is in force. */
export async function fleetFormat(
  bus: Pick<Bus, 'list'>,
  topicPrefix: string,
): Promise<FleetFormat | undefined> {
  return formatAmong(await listFormats(bus, topicPrefix))
}

/** The record in force among records of the table. */
export function formatAmong(records: readonly StoredRecord[]): FleetFormat | undefined {
  const formats: Formats = new Map()
  for (const record of records) keep(formats, record)
  return inForce(formats)
}

function listFormats(bus: Pick<Bus, 'list'>, topicPrefix: string): Promise<StoredRecord[]> {
  const table = { topic: `${topicPrefix}policies`, partition: 0, upToNow: true }
  return bus.list({ ...table, prefix: fleetFormatKey }).catch(noneIfUnreadable)
}

/**
 * Resolves when the format in force is known. Its `close` ends the limit. Closes `bus` if its table cannot be
 * read, and throws the error.
 */
export async function heldBus(bus: Bus, topicPrefix: string, log: Logger): Promise<Bus> {
  const holder = {}
  const formats: Formats = new Map()
  const closed = new AbortController()
  const topic = `${topicPrefix}policies`
  const place = { topic, partition: 0, signal: closed.signal }
  hold(holder, 1)
  await onceAnswered(bus, readFormat).catch(async (error: unknown) => {
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
    const records = await listFormats(bus, topicPrefix)
    formats.clear()
    apply(records)
  }

  async function follow(): Promise<void> {
    while (!closed.signal.aborted) {
      try {
        const [ends] = await bus.ends(topic, [0])
        if (ends !== undefined) {
          await readFormat() // a record before these ends
          for await (const records of bus.follow({ ...place, from: ends.end })) apply(records)
        }
      } catch (error) {
        log.debug({ err: error }, 'the format in force cannot be followed now')
      }
      await pause(bus.clock, limits.fleetLookMs, closed.signal)
    }
  }

  function apply(records: readonly StoredRecord[]): void {
    for (const record of records) keep(formats, record)
    if (!closed.signal.aborted) hold(holder, inForce(formats)?.format ?? 1)
  }
}

/** The newest record under each of the two keys. */
type Formats = Map<string, FleetFormat>

function keep(formats: Formats, { key, value }: StoredRecord): void {
  if (key !== fleetFormatKey && key !== fleetPinKey) return
  const message = messageOf(value)
  if (message?.type === 'fleet-format' && message.format > 0) formats.set(key, message)
  else if (value === null) formats.delete(key)
}

/** A pin counts before the format that a process set. */
function inForce(formats: Formats): FleetFormat | undefined {
  return formats.get(fleetPinKey) ?? formats.get(fleetFormatKey)
}
