// A row of the table of commands that change something: what it says about one command.

import { type CommandLine, commandLine } from './command-line.ts'

/** Paths as they stand in the command. */
export type Changes = {
  writes?: string[]
  /** Taken away, moved or replaced: an allowed folder itself must not be among them. */
  removes?: string[]
  /** What a link made by it leads to. */
  links?: string[]
  /** Made of what came from the net. */
  fetched?: string[]
  /** Copied to each of `writes`: if they were fetched, the copies are. */
  copied?: string[]
  /** An argument that could be an option of which nothing is known. */
  uncertain?: string | undefined
  /** Why it cannot be told what it changes. */
  unknowable?: string
}

export type Row = (args: readonly string[]) => Changes
export type Reading = Parameters<typeof commandLine>[1]

/** A row that reads its arguments the usual way. */
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
