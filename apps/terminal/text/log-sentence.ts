// A line of the log as a sentence, for a person who talks to an agent in this terminal. Servers, guards and
// providers write parts of a line, so the sentence.

import { printable, printableJson } from './printable.ts'

/** Levels as pino numbers them. */
const warnLevel = 40
const errorLevel = 50
const fatalLevel = 60

/**
 * `line`: JSON of the log (`shared/lib/log`). A warning or an error becomes a sentence with its reason:
 * `warning: a call was denied before its start: …`. Lines of lower levels stay JSON with the same value: a
 * person requested them by `logLevel`. Undefined: a failure of the stages, which ends the turn with the same text.
 */
export function logSentence(line: string): string | undefined {
  const entry = JSON.parse(line) as {
    level: number
    msg?: string
    fault?: string
    reason?: string
    err?: { message: string }
  }
  const { level, msg, fault, reason, err } = entry
  if (level >= fatalLevel) return undefined
  if (level < warnLevel) return printableJson(entry)
  const parts = [level < errorLevel ? 'warning' : 'error', msg, fault ?? reason ?? err?.message]
  return printable(parts.filter((part) => part !== undefined && part !== '').join(': '))
}
