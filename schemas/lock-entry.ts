// The types of schemas/lock.json, which holds the schema of each message in each version.

/** One row of lock.json. The frame of a record carries `id`. */
export type LockEntry = {
  id: number
  type: string
  version: number
  released: boolean
  /** A program of version 0.1 wrote it. Its words differ, so it reads no record of today. */
  former?: true
  schema: RecordSchema
}

export type Schema = string | Schema[] | ArraySchema | MapSchema | NamedSchema
type ArraySchema = { type: 'array'; items: Schema }
type MapSchema = { type: 'map'; values: Schema }
export type NamedSchema = RecordSchema | EnumSchema | FixedSchema
export type RecordSchema = Named & { type: 'record'; fields: Field[] }
type EnumSchema = Named & { type: 'enum'; symbols: string[]; default?: string }
type FixedSchema = Named & { type: 'fixed'; size: number }
type Named = { name: string; namespace?: string; doc?: string; aliases?: string[] }
type Field = { name: string; doc?: string; type: Schema; default?: unknown; aliases?: string[] }
