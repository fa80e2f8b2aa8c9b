import { describe, expect, it } from '@jest/globals'
import type { Command } from 'commander'
import { examples, examplesOf } from '../../../apps/cli/examples.ts'
import { createProgram } from '../../../apps/cli/program.ts'

/** The words of a line as a shell splits them. The examples have no other syntax than quotes. */
function wordsOf(line: string): string[] {
  return (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'|'$/g, ''))
}

/** Runs the line without the code of the command. The path of the command that would run. */
async function commandOf(line: string): Promise<string> {
  const [, ...words] = wordsOf(line)
  const program = await createProgram(words)
  let ran = ''
  const stub = (command: Command, path: string): void => {
    command.configureOutput({ writeErr: () => undefined }).exitOverride()
    command.action(() => {
      ran = path
    })
    for (const one of command.commands) stub(one, `${path} ${one.name()}`)
  }
  for (const command of program.commands) stub(command, `weir ${command.name()}`)
  await program.parseAsync(words, { from: 'user' })
  return ran
}

function commandsBelow(command: Command, path: string): { command: Command; path: string }[] {
  return [
    { command, path },
    ...command.commands.flatMap((one) => commandsBelow(one, `${path} ${one.name()}`)),
  ]
}

const all = (await createProgram('all')).commands.flatMap((command) =>
  commandsBelow(command, `weir ${command.name()}`),
)

describe('the examples of the help (EXAMPLES-1)', () => {
  it.each(examples)('%s is accepted by its command', async (example) => {
    const path = await commandOf(example)
    expect(`${example} `.startsWith(`${path} `)).toBe(true)
  })

  it.each(all.map(({ path, command }) => [path, command] as const))(
    '%s shows an example in its help',
    (path, command) => {
      let text = ''
      command.configureOutput({
        writeOut: (part) => {
          text += part
        },
      })
      command.outputHelp()
      expect(text).toContain('\nExamples:\n  weir ')
      expect(examplesOf(path)).not.toEqual([])
    },
  )

  it('are refused with a flag, a value or a command that the program does not have', async () => {
    for (const wrong of [
      'weir guard list --nope',
      'weir guard mode g loud',
      'weir guards list',
      'weir ask hello',
    ])
      await expect(commandOf(wrong)).rejects.toThrow()
  })
})
