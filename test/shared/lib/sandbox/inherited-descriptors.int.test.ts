// A launcher leaves a folder open at descriptor 30, and no program that Weir starts gets it.

import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from '@jest/globals'
import { inSandboxes } from '../../../support/sandboxes.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-open-'))
writeFileSync(join(folder, 'secret.txt'), 'CANARY')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function startedWith(descriptor: number, script: readonly string[]) {
  const opened = openSync(folder, 'r')
  const stdio: (number | 'ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe']
  while (stdio.length < descriptor) stdio.push('ignore')
  stdio.push(opened)
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...script],
    { stdio, encoding: 'utf8', timeout: 60_000 },
  )
  closeSync(opened)
  return { stdout, stderr }
}

const program = fileURLToPath(
  new URL('../../../support/tools/descriptor-starts.ts', import.meta.url),
)
const launch = join(import.meta.dirname, '../../../../shared/lib/sandbox/launch.ts')

it('the launcher of the test really leaves descriptor 30 open', () => {
  const script = `process.stdout.write(require('node:fs').readdirSync('/proc/self/fd/30').join())`
  expect(startedWith(30, ['-e', script]).stdout).toBe('secret.txt')
})

inSandboxes('a descriptor that the launcher left open', () => {
  it.each(['default', 'off'])('reaches no tool, server or guard with sandbox: %s', (sandbox) => {
    const { stdout, stderr } = startedWith(30, [program, sandbox])
    const read = JSON.parse(stdout || JSON.stringify({ stderr })) as Record<string, string>
    const texts = Object.fromEntries(
      Object.entries(read).map(([way, text]) => [way, /CANARY|closed/.exec(text)?.[0] ?? text]),
    )
    const closed = 'closed'
    expect(texts).toEqual({
      command: closed,
      kept: closed,
      module: closed,
      server: closed,
      guard: closed,
    })
  })

  it('above the highest one that can be closed, it refuses the sandbox and names it', () => {
    const script = `import { confined } from '${launch}'
try { confined({ network: 'none' }) } catch (error) { console.log(error.code, error.message) }`
    const { stdout } = startedWith(5_000, ['--input-type=module', '-e', script])
    expect(stdout).toContain(
      'sandbox.refused descriptor 5000 is open for every program that Weir starts',
    )
  })
})
