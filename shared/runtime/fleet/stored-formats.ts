// Writes the formats of a fleet to the table `policies`: the schemas of each, and the one in force.
// The schemas of a format are in the table before the format is in force.

import { fleetFormat, formatAmong } from '../../bus/fleet/held-bus.ts'
import { schemasIn } from '../../bus/fleet/schemas-in-log.ts'
import { knownSchemas, ownFormat } from '../../codec/codec.ts'
import { closedFormats, formatOf } from '../../codec/formats.ts'
import { messageOf } from '../../codec/message-of.ts'
import type { Bus } from '../../contract/bus.ts'
import type { FleetFormat, FormatSchemas } from '../../contract/messages.ts'
import { fleetPinKey, formatKeyPrefix } from '../../contract/topology.ts'
import { version } from '../../lib/version.ts'
import { toRecord } from '../record.ts'
import { type AuditedTable, appendChange } from '../settings/audited-change.ts'

type Log = { bus: Pick<Bus, 'list' | 'append' | 'clock'>; topicPrefix: string }

type InForce = Pick<FleetFormat, 'format' | 'isPinned' | 'setBy'>

/**
 * The format in force, and the formats after the first one with their schemas, by one reading of the
 * table: a list on Kafka reads all of the table.
 */
export async function storedFleet({
  bus,
  topicPrefix,
}: {
  bus: Pick<Bus, 'list'>
  topicPrefix: string
}): Promise<{ inForce: InForce; formats: FormatSchemas[] }> {
  const table = { topic: `${topicPrefix}policies`, partition: 0, upToNow: true }
  const records = await bus.list({ ...table, prefix: '' })
  const formats = records.flatMap(({ key, value }) => {
    const message = key.startsWith(formatKeyPrefix) ? messageOf(value) : undefined
    return message?.type === 'format-schemas' ? [message] : []
  })
  return { inForce: formatAmong(records) ?? firstInForce, formats }
}

const firstInForce: InForce = { format: 1, isPinned: false, setBy: '' }

/**
 * Stores the schemas of this build's formats, where the table has none or a draft. `given`: the
 * formats that the table has; default: reads them. Throws `bus.unauthorized` if this user may not write
 * `policies`.
 */
export async function storeFormats(log: Log, given?: readonly FormatSchemas[]): Promise<void> {
  const stored = given ?? (await storedFleet(log)).formats
  const missing = formatRecords(log.topicPrefix).filter(
    ({ message }) =>
      stored.find(({ format }) => format === message.format)?.schemas !== message.schemas &&
      isOwnToWrite(message.format, stored),
  )
  if (missing.length > 0) await log.bus.append(missing.map(({ record }) => record))
}

/** A closed format is written once. An open one grows until its release, and no build removes schemas. */
function isOwnToWrite(format: number, stored: readonly FormatSchemas[]): boolean {
  const other = stored.find((one) => one.format === format)
  if (other === undefined) return true
  const lastOwn = knownSchemas.at(-1)?.id ?? 0
  return format > closedFormats.length && schemasIn(other.schemas).every(({ id }) => id <= lastOwn)
}

/**
 * Sets the format in force for an operator, after its schemas, with the evidence in
 * `audit`. A format that is not pinned ends the pin. Throws as storeFormats.
 */
export async function storeFleetFormat(log: AuditedTable & Log, set: InForce): Promise<void> {
  await storeFormats(log)
  const after = fleetMessage(log, set)
  const record = policy(log, after)
  const unpin = { topic: record.topic, partition: record.partition, key: fleetPinKey, value: null }
  const change = { setting: fleetPinKey, by: set.setBy, after }
  await appendChange(log, change, set.isPinned ? [record] : [record, unpin])
}

/**
 * Changes the format in force for a process, after its schemas. False: the format
 * has a pin, or is no longer `from`, and nothing changed. Throws as storeFormats.
 */
export async function changeFleetFormat(
  log: Log,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  await storeFormats(log)
  const { format, isPinned } = await formatInForce(log)
  if (isPinned || format !== from) return false
  const set = { format: to, isPinned: false, setBy: runtimeAuthor() }
  await log.bus.append([policy(log, fleetMessage(log, set))])
  return true
}

/** The records with which a new log begins: no older process has read it. */
export function firstFormat(log: Pick<Log, 'topicPrefix'> & { bus: Pick<Bus, 'clock'> }) {
  return [
    ...formatRecords(log.topicPrefix).map(({ record }) => record),
    policy(log, fleetMessage(log, { format: ownFormat, isPinned: false, setBy: runtimeAuthor() })),
  ]
}

/** The author of a change that no person made. */
function runtimeAuthor(): string {
  return `Weir ${version()}`
}

/** The format in force; 1 if the log names none. */
export async function formatInForce(log: {
  bus: Pick<Bus, 'list'>
  topicPrefix: string
}): Promise<InForce> {
  return (await fleetFormat(log.bus, log.topicPrefix)) ?? firstInForce
}

function fleetMessage(
  { bus }: { bus: Pick<Bus, 'clock'> },
  { format, isPinned, setBy }: InForce,
): FleetFormat {
  return { type: 'fleet-format', format, isPinned, setBy, setAt: bus.clock.now() }
}

function policy({ topicPrefix }: Pick<Log, 'topicPrefix'>, message: FleetFormat | FormatSchemas) {
  return toRecord({ topic: `${topicPrefix}policies`, partition: 0, message })
}

function formatRecords(topicPrefix: string) {
  const formats = Array.from({ length: ownFormat - 1 }, (_, at) => at + 2)
  return formats.map((format) => {
    const schemas = knownSchemas
      .filter(({ id }) => formatOf(id) === format)
      .map(({ id, type, version, schema }) => ({ id, type, version, schema }))
    const message = {
      type: 'format-schemas',
      format,
      weir: version(),
      schemas: JSON.stringify(schemas),
    } as const
    return { message, record: policy({ topicPrefix }, message) }
  })
}
