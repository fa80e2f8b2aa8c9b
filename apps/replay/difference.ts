// A difference between the log and a repeated output, with its known cause.
// Records are compared byte for byte. If only the schema versions differ,
// their contents are compared as this version reads them, in the fields of both versions.

import { decode, encode, knownSchemas, schemaIdIn } from '../../shared/codec/codec.ts'
import { messageOf } from '../../shared/codec/message-of.ts'
import type { Offset, RecordToAppend, StoredRecord } from '../../shared/contract/bus.ts'
import type { Message } from '../../shared/contract/messages.ts'
import type { StageName } from '../../shared/contract/topology.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'

export type Address = { topic: string; partition: number; offset: Offset }

export function addressText({ topic, partition, offset }: Address): string {
  return `${topic}/${partition}/${offset}`
}

/** `missing`: the log does not have it. `added`: no input of a stage leads to it. */
export type Difference = {
  kind: 'differs' | 'missing' | 'added'
  stage: StageName
  /** The address of the input, which may be missing from the log. */
  input: Address
  /** Undefined: it was not read. */
  inputRecord: StoredRecord | undefined
  logged: StoredRecord | undefined
  again: RecordToAppend | undefined
}

/** The time of the input, or of the record itself if the input was not read. */
export function timeOf({ inputRecord, logged }: Difference): Milliseconds {
  return inputRecord?.time ?? logged?.time ?? 0
}

export function sameness(logged: StoredRecord, again: RecordToAppend): 'bytes' | 'content' | 'no' {
  if (logged.key !== again.key || logged.value === null || again.value === null) return 'no'
  if (isSameBytes(logged.value, again.value)) return 'bytes'
  const isOtherVersion = schemaIdIn(logged.value) !== schemaIdIn(again.value)
  return isOtherVersion && isSameContent(logged.value, again.value) ? 'content' : 'no'
}

/** False: the logged record cannot be read. */
function isSameContent(logged: Uint8Array, again: Uint8Array): boolean {
  try {
    const [was, is] = [decode(logged), decode(again)]
    return isSameBytes(encode(was), encode(Object.assign(is, laterFields(logged, was))))
  } catch {
    return false
  }
}

/** The fields of `was` that its version does not have, so each one has its default. */
function laterFields(bytes: Uint8Array, was: Message): object {
  const schemas = knownSchemas.filter(({ type }) => type === was.type)
  const own = schemas.find(({ id }) => id === schemaIdIn(bytes))
  const newest = schemas.reduce((one, other) => (other.version > one.version ? other : one))
  const names = new Set(own?.schema.fields.map(({ name }) => name))
  const later = newest.schema.fields.filter(
    ({ name, aliases = [] }) => ![name, ...aliases].some((one) => names.has(one)),
  )
  return Object.fromEntries(later.map(({ name }) => [name, was[name as keyof Message]]))
}

function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}

/**
 * The differences in the code or the policy that wrote the two records, as sentences. Empty: the
 * records name none.
 */
export function causesOf(
  { logged, again }: Difference,
  versions: { log: string | undefined; own: string },
): string[] {
  const causes: string[] = []
  if (versions.log !== undefined && versions.log !== versions.own)
    causes.push(
      `code version differs: Weir ${versions.log} wrote the log, and this is ${versions.own}`,
    )
  const [before, after] = [schemaOf(logged), schemaOf(again)]
  if (
    before !== undefined &&
    after !== undefined &&
    before.type === after.type &&
    before.version !== after.version
  )
    causes.push(
      `code version differs: ${before.type} has schema version ${before.version} in the log, and ${after.version} here`,
    )
  const [was, is] = [messageOf(logged?.value), messageOf(again?.value)]
  if (was === undefined || is === undefined) return causes
  const [ruleWas, ruleIs] = [ruleOf(was), ruleOf(is)]
  if (
    ruleWas !== undefined &&
    ruleIs !== undefined &&
    ruleWas.name === ruleIs.name &&
    ruleWas.version !== ruleIs.version
  )
    causes.push(
      `code version differs: the rule ${ruleIs.name} has version ${ruleWas.version} in the log, and ${ruleIs.version} here`,
    )
  if ('policy' in was && 'policy' in is && was.policy.version !== is.policy.version)
    causes.push(
      `policy version differs: ${was.policy.version} in the log, and ${is.policy.version} here`,
    )
  return causes
}

function schemaOf(
  record: RecordToAppend | undefined,
): { type: string; version: number } | undefined {
  const id = record?.value == null ? undefined : schemaIdIn(record.value)
  return knownSchemas.find((schema) => schema.id === id)
}

function ruleOf(message: Message): { name: string; version: number } | undefined {
  const intervention = 'intervention' in message ? message.intervention : null
  return intervention !== null && 'rule' in intervention
    ? { name: intervention.rule, version: intervention.ruleVersion }
    : undefined
}
