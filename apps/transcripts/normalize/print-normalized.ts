// Prints a recorded stream for people: its parts as the gateway emits them, then its calls.

import type { PartEvent } from '../../../shared/contract/messages.ts'
import { argumentsText } from '../../history/inspect/argument-words.ts'
import { createPage } from '../../history/inspect/page.ts'
import type { Normalized, Streamed } from './normalized.ts'

const shownCharactersMax = 200
/** The longest kind of a part, and a blank. */
const kindColumns = 18

export function pageOf(
  { file, stop, error, calls }: Normalized,
  { events, rounds, refusal }: Streamed,
  columns: number,
): string[] {
  const page = createPage({ columns, full: false })
  page.line(0, file, 'title')
  for (const { kind, index, id, name, text } of merged(events)) {
    const words = [
      `${index}`,
      ...(name === null ? [] : [name]),
      ...(id === null ? [] : [id]),
      shown(text),
    ]
    page.entry(
      2,
      kind.padEnd(kindColumns),
      words.join(' ').trimEnd(),
      kind === 'error' ? 'bad' : 'faint',
    )
  }
  const sent = rounds.flatMap(({ response }) => response.calls)
  for (const [n, { ordinal, name, rawArguments, runnable, reason }] of calls.entries()) {
    const call = sent[n]
    page.entryOrQuote(2, `call ${ordinal}`, name, rawArguments)
    page.line(4, runnable ? 'may run' : `must not run: ${reason}`, runnable ? 'good' : 'bad')
    if (call !== undefined) page.line(4, argumentsText(call), 'faint')
    if (call?.repair) page.entryOrQuote(4, 'runs as', '', call.raw)
  }
  for (const { response } of rounds) {
    const fault = response.textCalls?.fault
    if (fault != null)
      page.entry(2, 'text', `is built like a call and must not run: ${fault}`, 'bad')
  }
  if (refusal !== '') page.entryOrQuote(2, 'refuses', '', refusal)
  if (error !== null) page.entry(2, 'error', `${error.code}: ${error.message}`, 'bad')
  const word =
    stop.provider === null ? 'the provider gave no reason' : `the provider says ${stop.provider}`
  page.entry(2, 'stopped', `${stop.unified}, ${word}`)
  return page.lines.map((line) => line.text)
}

function shown(text: string): string {
  return text.length <= shownCharactersMax
    ? text
    : `${text.slice(0, shownCharactersMax)}… (${text.length} characters)`
}

/** Consecutive pieces of one text are shown as one. */
function merged(events: PartEvent[]): PartEvent[] {
  const texts = new Set<PartEvent['kind']>([
    'text',
    'refusal',
    'reasoning',
    'call_arguments',
    'call_piece',
  ])
  const shown: PartEvent[] = []
  for (const event of events) {
    const last = shown.at(-1)
    const goesOn =
      last?.kind === event.kind &&
      last.index === event.index &&
      event.name === null &&
      (event.id ?? last.id) === last.id
    if (last !== undefined && goesOn && texts.has(event.kind))
      shown[shown.length - 1] = { ...last, text: last.text + event.text }
    else shown.push(event)
  }
  return shown
}
