// The calls of a host that changes them: it runs the changed call, and its history shows that one.
// A profile declares the changes, and this file makes both spellings one.
// Two spellings are one only if the host runs the same call for both. A verdict on one
// therefore holds for the other.

import { isObject, jsonIn } from '../lib/json/json-object.ts'

export type HostRewriting = {
  /** Arguments that are no JSON: the member that stands for them, and the one in it with their text. */
  unread: { member: string; text: string } | undefined
  /** A command that loses `cd FOLDER &&`, if a text before the history names this folder. */
  folder: { tool: string; member: string; named: RegExp } | undefined
  /** Members that it adds with this value. */
  added: readonly { tool: string; member: string; value: unknown }[]
  /** Texts whose lines lose the blanks at their ends. */
  cutLines: readonly { tool: string; members: readonly string[] }[]
  /** It reads a number or a boolean out of a text. */
  readsTexts: boolean
}

type SentCall = { name: string; arguments: string }

/** The arguments as the model sent them, if the host shows an object that stands for them. */
export function sentArguments(text: string, { unread }: HostRewriting): string {
  if (unread === undefined || !text.includes(unread.member)) return text
  const value = jsonIn(text)
  const stands = isObject(value) ? value[unread.member] : undefined
  const sent = isObject(stands) ? stands[unread.text] : undefined
  return typeof sent === 'string' ? sent : text
}

/** The arguments as the host runs the call. `folder`: its working folder. */
export function argumentsAsRun(
  { name, arguments: text }: SentCall,
  { added, cutLines, folder: changed, readsTexts }: HostRewriting,
  folder: () => string | undefined,
): string {
  const value = jsonIn(text)
  if (!isObject(value)) return text
  const run: Record<string, unknown> = Object.assign(Object.create(null), value)

  for (const one of added)
    if (one.tool === name && run[one.member] === one.value) delete run[one.member]
  for (const { members } of cutLines.filter(({ tool }) => tool === name))
    for (const member of members) run[member] = withCutLines(run[member])
  if (changed?.tool === name) run[changed.member] = withoutFolder(run[changed.member], folder)
  if (readsTexts)
    for (const [member, inner] of Object.entries(run))
      if (typeof inner === 'string' && plainValue.test(inner)) run[member] = JSON.parse(inner)
  return JSON.stringify(run)
}

/** The arguments with the numbers and booleans that the host reads where the schema requires them. */
export function argumentsRead(text: string, schema: string): string {
  const value = jsonIn(text)
  const declared = jsonIn(schema)
  const properties = isObject(declared) ? declared.properties : undefined
  if (!isObject(value) || !isObject(properties)) return text
  const read = Object.entries(value).filter(
    ([member, inner]) =>
      typeof inner === 'string' &&
      plainValue.test(inner) &&
      Object.hasOwn(properties, member) &&
      fits(JSON.parse(inner), properties[member]),
  )
  if (read.length === 0) return text
  const run: Record<string, unknown> = Object.assign(Object.create(null), value)
  for (const [member, inner] of read) run[member] = JSON.parse(`${inner}`)
  return JSON.stringify(run)
}

function fits(value: unknown, schema: unknown): boolean {
  const type = isObject(schema) ? schema.type : undefined
  return type === 'integer' ? Number.isInteger(value) : type === typeof value
}

const plainValue = /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|true|false)$/

function withCutLines(value: unknown): unknown {
  if (typeof value !== 'string') return value
  // Each run of blanks is searched once, from its begin: arguments are hostile text.
  return value.replace(/(?<![ \t])[ \t]+$/gm, '')
}

function withoutFolder(value: unknown, folder: () => string | undefined): unknown {
  if (typeof value !== 'string' || !value.startsWith('cd ')) return value
  const own = folder()
  if (own === undefined) return value
  const begins = [own, `"${own}"`, `'${own}'`].map((path) => `cd ${path} && `)
  const begin = begins.find((one) => value.startsWith(one))
  return begin === undefined ? value : value.slice(begin.length)
}
