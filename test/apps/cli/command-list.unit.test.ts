import { describe, expect, it } from '@jest/globals'
import { Command } from 'commander'
import { addCommands } from '../../../apps/cli/command-list.ts'

async function commandsFor(...words: string[]): Promise<readonly Command[]> {
  const program = new Command('weir')
  await addCommands(program, words)
  return program.commands
}

const listed = await commandsFor()
const seen = (commands: readonly Command[]) =>
  commands.map((one) => [one.name(), one.description()])
const has = ({ options, commands }: Command) => options.length + commands.length > 0

describe('the list of commands', () => {
  it('has a description of each command and loads none', () => {
    for (const command of listed)
      expect([command.description() !== '', has(command)]).toEqual([true, false])
  })

  it.each(listed.map((one) => one.name()))(
    'has for %s the same commands as its file (COMMAND-LIST-1)',
    async (name) => {
      for (const words of [[name], ['help', name], ['--help', name]]) {
        const commands = await commandsFor(...words)
        expect(seen(commands)).toEqual(seen(listed))
        expect(commands.filter(has).map((one) => one.name())).toContain(name)
      }
    },
  )
})
