// The help of all commands, as an install without a checkout shows it.

import { describe, expect, it } from '@jest/globals'
import type { Command } from 'commander'
import { createProgram } from '../../../apps/cli/program.ts'
import { exitCodes, exitCodesOf } from '../../../apps/terminal/exit-codes.ts'

type Named = { path: string; command: Command }

function allOf(command: Command, path: string): Named[] {
  const below = command.commands.flatMap((one) => allOf(one, `${path} ${one.name()}`))
  return [{ path, command }, ...below]
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({
    writeOut(text) {
      help += text
    },
  })
  command.outputHelp()
  return help
}

const commands = allOf(await createProgram('all'), 'weir')

describe('the help of a command', () => {
  it('names no source file, because an install has none', () => {
    const naming = commands.filter(({ command }) =>
      /\b(?:apps|client|services|shared)\/\S+\.ts\b/.test(helpOf(command)),
    )
    expect(naming.map(({ path }) => path)).toEqual([])
  })

  it('lists the exit codes of the command, each with a general meaning in the help of weir', () => {
    const own = commands.filter(({ command }) => exitCodesOf(command).length > 0)
    const general = new Map(exitCodes.map(({ code, meaning }) => [code, meaning]))
    expect(own.map(({ path }) => path)).toContain('weir ask')
    for (const { path, command } of own) {
      const help = helpOf(command).replace(/\s+/g, ' ')
      for (const { code, meaning } of exitCodesOf(command)) {
        expect({ path, help }).toEqual({
          path,
          help: expect.stringContaining(`${code} ${meaning.replace(/\s+/g, ' ')}`),
        })
        expect({ path, code, general: general.get(code) }).not.toMatchObject({
          general: undefined,
        })
      }
    }
  })

  it('names each command whose 1 is an answer in the general meaning of 1', () => {
    const meaning = exitCodes.find(({ code }) => code === 1)?.meaning ?? ''
    const answering = commands.filter(({ command }) =>
      exitCodesOf(command).some(
        ({ code, meaning }) => code === 2 && meaning === 'failed, also bad usage',
      ),
    )
    expect(answering.length).toBeGreaterThan(5)
    const missing = answering.filter(({ path }) => {
      const [, first = '', second = ''] = path.split(' ')
      return ![first, `${first} ${second}`].some((name) => meaning.includes(name))
    })
    expect(missing.map(({ path }) => path)).toEqual([])
  })
})
