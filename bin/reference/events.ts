// The tables of the events of a turn: the schemas of their records, and the kinds that no record is.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TurnEvent } from '../../client/weir.ts'
import { root } from '../generated-file.ts'
import { code, type Table, type Tables } from './table.ts'

type Kind = TurnEvent['type']
type Field = { name: string; type: unknown; doc: string }
type RecordSchema = { doc: string; fields: Field[] }

/** In the order of a turn. `record`: the schema with this name has its doc and its fields. */
const kinds: Record<Kind, 'record' | { doc: string; fields: string[] }> = {
  'turn-waiting': { doc: "the conversation's earlier turn still runs", fields: [] },
  'turn-started': 'record',
  'round-started': 'record',
  'reasoning-delta': { doc: "a piece of the model's reasoning", fields: ['text'] },
  'text-delta': { doc: "a piece of the model's text", fields: ['text'] },
  'text-reset': { doc: "the round's text and reasoning so far is void", fields: [] },
  'model-retry': 'record',
  'model-waiting': 'record',
  'budget-reached': 'record',
  'model-answered': 'record',
  'call-denied': 'record',
  'intervention-raised': 'record',
  'calls-waiting': 'record',
  'guard-verdict-given': 'record',
  'approval-pending': 'record',
  'approval-decided': 'record',
  'tool-started': 'record',
  'call-offered': 'record',
  'call-finished': 'record',
  'turn-finished': 'record',
}

/** The place of an event, which the page lists once. */
const placeFields = new Set(['conversation', 'turn', 'round'])

/** A text of a record that an event has twice: as its value, and as it was written. */
const twice: Record<string, string> = { arguments: 'rawArguments', result: 'rawResult' }

/** Records without the arguments, which the events have. */
const withArguments = new Set<Kind>(['call-denied', 'tool-started', 'call-offered'])

export function eventTables(): Tables {
  const rows = Object.entries(kinds).map(([kind, source]) => {
    const { doc, fields } = source === 'record' ? recordOf(kind as Kind) : source
    return [code(kind), doc, fields.map(code).join(', ')]
  })
  return {
    Kinds: { columns: ['`type`', 'meaning', 'fields'], rows },
    'Calls that wait for a person': pendingCall(),
  }
}

function recordOf(kind: Kind): { doc: string; fields: string[] } {
  const { doc, fields } = schemaOf(kind)
  const names = fields.map(({ name }) => name).filter((name) => !placeFields.has(name))
  if (withArguments.has(kind)) names.splice(names.indexOf('name') + 1, 0, 'arguments')
  // The last sentence of a record's doc names its writer.
  const meaning = doc.replace(/^Activity: /, '').replace(/\. (Derived|Observed), .*$/, '')
  return { doc: meaning, fields: names.flatMap(bothTexts) }
}

function pendingCall(): Table {
  const rows = schemaOf('types/pending-call').fields.map(({ name, doc }) => [
    bothTexts(name).map(code).join(', '),
    doc,
  ])
  return { columns: ['field', 'meaning'], rows }
}

function bothTexts(name: string): string[] {
  const text = twice[name]
  return text === undefined ? [name] : [name, text]
}

function schemaOf(name: string): RecordSchema {
  return JSON.parse(readFileSync(join(root, 'schemas', `${name}.avsc`), 'utf8')) as RecordSchema
}
