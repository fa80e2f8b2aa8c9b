// The tables of commands and of their exit codes, from the program itself.

import type { Command } from 'commander'
import { commandGroups } from '../../apps/cli/command-list.ts'
import { createProgram } from '../../apps/cli/program.ts'
import { exitCodes, exitCodesOf } from '../../apps/terminal/exit-codes.ts'
import { code, type Tables, withoutStop } from './table.ts'

export async function commandTables(): Promise<Tables> {
  const program = await createProgram('all')
  const columns = ['command', 'job']
  const tables = commandGroups().map(({ heading, items }) => {
    const named = items.flatMap(
      ([name]) => program.commands.find((command) => command.name() === name) ?? [],
    )
    const rows = named.flatMap((command) => runnable(command, 'weir')).map(rowOf)
    return [heading.replace(/:$/, ''), { columns, rows }] as const
  })
  return Object.fromEntries(tables)
}

export async function exitCodeTables(): Promise<Tables> {
  const program = await createProgram('all')
  const ofAll = exitCodes.map(({ code: number, meaning }) => [`${number}`, meaning])
  const ofCommands = program.commands
    .flatMap((command) => runnable(command, 'weir'))
    .flatMap(({ command, path }) => {
      // 2 means the same for all commands.
      const own = exitCodesOf(command).filter(({ code: number }) => number !== 2)
      return own.map(({ code: number, meaning }) => [code(path), `${number}`, meaning])
    })
  return {
    'All commands': { columns: ['code', 'meaning'], rows: ofAll },
    'Commands with further codes': { columns: ['command', 'code', 'meaning'], rows: ofCommands },
  }
}

type Named = { command: Command; path: string }

/** A command that a person can run: without commands below it, or with flags next to them. */
function runnable(command: Command, parent: string): Named[] {
  const path = `${parent} ${command.name()}`
  const below = command.commands.flatMap((one) => runnable(one, path))
  return below.length === 0 || command.options.length > 0 ? [{ command, path }, ...below] : below
}

function rowOf({ command, path }: Named): string[] {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
  return [code([path, ...words].join(' ')), withoutStop(command.description())]
}
