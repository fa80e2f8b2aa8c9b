import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'

const root = join(import.meta.dirname, '../../..')
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-early-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** The code or the signal with which `weir WORDS` ends, if a signal arrives while its program loads. */
async function endOf(words: string[], signal: 'SIGTERM' | 'SIGINT'): Promise<unknown> {
  // Loaded after the entry and before the program: the signal arrives exactly then.
  const hook = join(folder, 'hook.mjs')
  await writeFile(
    hook,
    `import { registerHooks } from 'node:module'
let isSent = false
registerHooks({
  load(url, context, next) {
    if (url.endsWith('/apps/cli/program.ts') && !isSent) {
      isSent = true
      process.kill(process.pid, '${signal}')
    }
    return next(url, context)
  },
})
`,
  )
  const flags = ['--disable-warning=ExperimentalWarning', '--import', pathToFileURL(hook).href]
  const child = spawn(process.execPath, [...flags, join(root, 'apps/cli/main.ts'), ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    stdio: 'ignore',
  })
  const [code, killedBy] = await once(child, 'exit')
  return code ?? killedBy
}

describe('a signal while the code of a command loads', () => {
  it.each<[string[], 'SIGTERM' | 'SIGINT']>([
    [['up', '--stages', 'validator'], 'SIGTERM'],
    [['up', '--stages', 'validator'], 'SIGINT'],
  ])('ends weir %j with 0 at %s', async (words, signal) => {
    expect(await endOf(words, signal)).toBe(0)
  })

  it('ends another command by the signal, as the shell expects', async () => {
    expect(await endOf(['settings'], 'SIGTERM')).toBe('SIGTERM')
  })
})
