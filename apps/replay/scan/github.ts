// The outputs of `weir scan --github` for a job of GitHub Actions: annotations of the worst loops, or of a
// scan of nothing, and a table for the job's summary. Sessions wrote the texts, so no text is markup or a
// command.

import { relative } from 'node:path'
import { printable } from '../../terminal/text/printable.ts'
import type { ScanScreen } from './scan-screen.ts'
import type { Scanned } from './scan-totals.ts'

/** `folder`: the repository. */
export function annotations({ agents, verdict, loops }: ScanScreen, folder: string): string[] {
  if (agents.length === 0) return [`::warning title=Weir::${data(verdict.text)}`]
  return loops.map(({ title, reason, file }) => {
    const text = `${title}. ${reason}`
    return `::warning file=${property(relative(folder, file))},title=${property('Weir: loop')}::${data(text)}`
  })
}

export function summary(scanned: Scanned, screen: ScanScreen, folder: string): string {
  const { agents } = scanned
  const { verdict, loops, lists, notes } = screen
  const heads = ['agent', 'sessions', 'sub-agents', 'turns', 'rounds', 'calls', 'failed', 'tokens']
  return [
    '## Weir scan',
    '',
    verdict.text,
    '',
    ...table(
      heads,
      agents.map((one) => [
        code(one.agent),
        ...[one.sessions, one.subAgents, one.turns, one.rounds, one.calls, one.failedCalls],
        one.tokens,
      ]),
    ),
    ...table(
      ['loop', 'reason', 'file'],
      loops.map(({ title, reason, file }) => [
        code(title),
        code(reason),
        code(relative(folder, file)),
      ]),
    ),
    ...lists.flatMap(({ title, lines }) => [
      `**${title}**`,
      '',
      ...lines.map((line) => `- ${code(line)}`),
      '',
    ]),
    ...notes.map((note) => `${code(note)}  `),
    '',
  ].join('\n')
}

function table(heads: string[], rows: (string | number)[][]): string[] {
  if (rows.length === 0) return []
  const line = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line), '']
}

/** As code, in which Markdown has no other markup. */
function code(text: string): string {
  return `\`${printable(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``
}

function data(text: string): string {
  return printable(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
