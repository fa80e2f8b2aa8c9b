// What the demo says to do next works as it stands there, pasted into a shell in the folder where
// the demo ran.

import { execFile } from 'node:child_process'
import { on } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { script } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

let commands: CommandFolder
beforeEach(async () => {
  commands = await openCommandFolder(script())
})
afterEach(() => commands.close())

/** Commands behind `Next`, without what they are for. */
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

describe('what to do next', () => {
  it('after the demo whose log was kept: inspect, export, replay and report', async () => {
    const { out } = await commands.run(['demo', '--data-folder', 'the log'])
    const steps = stepsIn(out, /demo\.weir|inspect/)
    expect(steps).toHaveLength(5)
    const told: string[] = []
    for (const step of steps) told.push(await pasted(step))
    expect(told[2]).toMatch(/^The same: /)
    expect(told[3]).toContain('What if loop.identicalFailures=2 had been in force')
    expect(readFileSync(join(commands.folder, 'demo.html'), 'utf8')).toContain('identical-failure')
  }, 120_000)

  it('after the model of the demo has begun to serve: ask it without a key, and so on', async () => {
    const model = commands.start(['demo-model', '--agent', 'demo agent.yaml'])
    let out = ''
    for await (const [text] of on(model.child.stdout, 'data')) {
      out += text
      if (out.includes('-o asked.html\n')) break
    }
    const steps = stepsIn(out, /weir /)
    expect(steps).toHaveLength(4)
    const told: string[] = []
    for (const step of steps) told.push(await pasted(step))
    expect(told[0]).toContain('Which command should I run?')
    expect(told[2]).toMatch(/^The same: /)
    model.child.kill('SIGINT')
    expect(await model.ended).toMatchObject({ code: 0 })
  }, 120_000)
})
