// The type of a table row for commands that change something: the effects of one command.

import { type CommandLine, commandLine } from './command-line.ts'

/** Paths as written in the command. */
export type Changes = {
  writes?: string[]
  /** Removed, moved or replaced paths. An allowed folder itself must not be among them. */
  removes?: string[]
  /** The targets of created links. */
  links?: string[]
  /** Files made from data of the net. */
  fetched?: string[]
  /** Copied to each of `writes`. Copies of fetched files are fetched too. */
  copied?: string[]
  /** An unknown argument that could be an option. */
  uncertain?: string | undefined
  /** The reason why the changes cannot be determined. */
  unknowable?: string
}

export type Row = (args: readonly string[]) => Changes
export type Reading = Parameters<typeof commandLine>[1]

/** A row that reads its arguments in the usual way. */
export function row(reading: Reading, changes: (line: CommandLine) => Changes): Row {
  return (args) => {
    const line = commandLine(args, reading)
    return { uncertain: line.uncertain, ...changes(line) }
  }
}

/** Without `-`, which is the output. */
export function files(values: string[]): string[] {
  return values.filter((value) => value !== '-')
}
