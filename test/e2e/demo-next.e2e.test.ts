// The next commands that the demo prints work unchanged, pasted into a shell in the folder where the
// demo ran.

import { execFile } from 'node:child_process'
import { on } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { checkoutCommand } from '../support/programs.ts'
import { script } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
beforeEach(async () => {
  commands = await openCommandFolder(script())
})
afterEach(() => commands.close())

/** It prints its own path. The package prints `npx weir`. */
const checkout = { program: checkoutCommand }

/** The commands after `Next`, without their descriptions. */
function stepsIn(text: string, pattern: RegExp): string[] {
  const [, next = ''] = text.split(/^Next.*$/m)
  return next
    .split('\n')
    .map((line) => line.trim().split(/ {3,}/)[0] ?? '')
    .filter((step) => pattern.test(step))
}

const shell = promisify(execFile)

async function pasted(step: string): Promise<string> {
  const { stdout } = await shell('sh', ['-c', step], { cwd: commands.folder })
  return stdout
}

describe('the next commands', () => {
  it('after a demo with a kept log inspect, export, replay and report it', async () => {
    const { out } = await commands.run(['demo', '--data-folder', 'the log'], checkout)
    const steps = stepsIn(out, /demo\.weir|inspect/)
    expect(steps).toHaveLength(5)
    const outputs: string[] = []
    for (const step of steps) outputs.push(await pasted(step))
    expect(outputs[2]).toMatch(/^The same: /)
    expect(outputs[3]).toContain('What if loop.identicalFailures=2 had been in force')
    expect(readFileSync(join(commands.folder, 'demo.html'), 'utf8')).toContain('identical-failure')
  }, 120_000)

  it("after the start of the demo's model ask it without a key, and more", async () => {
    const model = commands.start(['demo-model', '--agent', 'demo agent.yaml'], checkout)
    let out = ''
    for await (const [text] of on(model.child.stdout, 'data')) {
      out += text
      if (out.includes('-o asked.html\n')) break
    }
    const steps = stepsIn(out, /weir /)
    expect(steps).toHaveLength(4)
    const outputs: string[] = []
    for (const step of steps) outputs.push(await pasted(step))
    expect(outputs[0]).toContain('Which command should I run?')
    expect(outputs[2]).toMatch(/^The same: /)
    model.child.kill('SIGINT')
    expect(await model.ended).toMatchObject({ code: 0 })
  }, 120_000)
})
