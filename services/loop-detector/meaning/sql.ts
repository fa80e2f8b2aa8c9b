// Whether a text is a statement of SQL, and whether it only reads.

import { isObject } from '../../../shared/lib/json/json-object.ts'

const reads =
  /^\s*\(*(?:select\b|with\s[\s\S]*?\bas\s*\(|show\s+\w|explain\s|desc(?:ribe)?\s+\S+\s*;?\s*$|pragma\s+\w+|\\[dl]|\.(?:tables|schema|indexes)\b)/i
const writes =
  /^\s*(?:insert\s+(?:or\s+\w+\s+)?into|update\s+\S+\s[\s\S]*?\bset|delete\s+from|merge\s+into|replace\s+into|truncate\s|(?:create|alter|drop)\s+(?:or\s+replace\s+|unique\s+|temp(?:orary)?\s+)*(?:table|view|index|schema|database|function|type|role|user|trigger|sequence|extension|policy|materialized)\b|grant\s+\S|revoke\s+\S)/i
/** A statement that reads may have these as well. */
const changes =
  /\b(?:insert\s+into|delete\s+from|update\s+\S+\s+set|into\s+(?:out|dump)file|nextval|setval|pg_(?:terminate|cancel|reload|advisory)\w*)\b|;\s*(?:insert|update|delete|create|alter|drop|truncate|grant)\b/i

/** The effect of a statement in these arguments. Undefined: there is none. */
export function statementEffect(value: unknown): 'reads' | 'changes' | undefined {
  const head = statementIn(value)
  if (writes.test(head)) return 'changes'
  if (!reads.test(head)) return undefined
  return changes.test(head) ? 'changes' : 'reads'
}

function statementIn(value: unknown): string {
  const text = isObject(value) ? (value.sql ?? value.query ?? value.statement) : undefined
  return typeof text === 'string' ? text.slice(0, charsMax) : ''
}

const charsMax = 4_096

/** The texts that a statement looks for, and its tables. Undefined: there is no statement. */
export function soughtBy(value: unknown): { texts: string[]; tables: string[] } | undefined {
  if (statementEffect(value) === undefined) return undefined
  const text = statementIn(value)
  return {
    texts: [...text.matchAll(quotedText)].map(([, sought = '']) => sought),
    tables: [...text.matchAll(table)].map(([, name = '']) => name.toLowerCase()),
  }
}

const quotedText = /'([^']*)'/g
const table = /\b(?:from|join)\s+["`[]?([\w.]{1,80})/gi

/** A command with the word `SELECT` for each quoted statement that only reads. */
export function withoutQueries(command: string): string {
  return clients.test(command)
    ? command.replace(quoted, (whole, double?: string, single?: string) => {
        const text = double ?? single ?? ''
        return reads.test(text) && !changes.test(text) ? queryWord : whole
      })
    : command
}

export const queryWord = 'SELECT'
const clients = /\b(?:psql|mysql|mariadb|sqlite3|duckdb)\b/
const quoted = /"([^"]*)"|'([^']*)'/g

const namedThing =
  /\b(?:column|relation|table|alias|field|identifier|property|name|function)(?: name)?:? ["'`[]{0,2}([\w.$]{1,80})["'`\]]{0,2}/gi
const unknown =
  /\b(?:does(?: not|n't) exist|unknown|unrecognized|no such|not found|invalid (?:identifier|column|object)|missing from-clause|could not be bound|cannot query)\b/i
const statement = /\b(?:select|insert|update|delete|from|query|mutation)\b/i
const places =
  /\[\d+:\d+\]|\b(?:at )?line:? \d+(?:,? (?:at )?(?:position|column|char(?:acter)?) \d+)?|\b(?:position|character) \d+/gi

/**
 * The names that a statement invented and the error repeats, and the error without them and their
 * places. `raw`: the arguments as sent. Undefined: the error names none.
 */
export function withoutInventedNames(
  error: string,
  raw: string,
): { error: string; names: string[] } | undefined {
  if (!unknown.test(error) || !statement.test(raw)) return undefined
  const names: string[] = []
  const plain = error.replace(namedThing, (whole, name: string) => {
    if (!raw.includes(name)) return whole
    names.push(name)
    return whole.replace(name, '<name>')
  })
  return names.length === 0 ? undefined : { error: plain.replace(places, '<place>'), names }
}
