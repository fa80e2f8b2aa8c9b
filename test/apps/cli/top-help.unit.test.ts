import { describe, expect, it } from '@jest/globals'
import { createProgram } from '../../../apps/cli/program.ts'
import { asksForTopHelp, topHelp } from '../../../apps/cli/top-help.ts'

async function helpOfCommander(width: number | undefined): Promise<string> {
  const program = await createProgram([])
  let text = ''
  program.configureOutput({
    getOutHelpWidth: () => width as number,
    writeOut: (part) => {
      text += part
    },
  })
  program.outputHelp()
  return text
}

describe('the help of weir', () => {
  it.each([undefined, 0, 30, 40, 60, 62, 63, 64, 80, 81, 97, 120, 200, 1000])(
    "equals commander's at a width of %s (TOP-HELP-1)",
    async (width) => {
      expect(topHelp(width)).toBe(await helpOfCommander(width))
    },
  )

  it('is that of weir only if no other word follows', () => {
    for (const words of [['--help'], ['-h'], ['help']]) expect(asksForTopHelp(words)).toBe(true)
    for (const words of [[], ['ask'], ['ask', '--help'], ['help', 'ask'], ['--help', 'ask']])
      expect(asksForTopHelp(words)).toBe(false)
  })
})
