// Makes the programs that tests start (programs.ts) in a folder that is not there yet.
// Usage: make-programs.ts FOLDER

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeProgram } from '../../bin/bundle.ts'
import { makeOnce } from './make-once.ts'
import { contentHash } from './program-sources.ts'

const root = join(import.meta.dirname, '..', '..')
const target = process.argv[2] ?? ''

if (await makeOnce({ target, nameNow: () => contentHash(root), make }))
  compile(join(target, 'dist', 'chunks'))

async function make(folder: string): Promise<void> {
  await writeProgram(folder, [
    'test/support/weir-process.ts',
    'test/support/sharing-process.ts',
    'test/support/mcp/server-process.ts',
  ])
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  const command = join(folder, 'weir')
  // The flags are those of bin/weir. The compiled code leaves with the folder.
  writeFileSync(
    command,
    `#!/bin/sh
export NODE_COMPILE_CACHE='${target}/compiled'
exec '${process.execPath}' --disable-warning=ExperimentalWarning --disable-sigusr1 '${target}/dist/apps/cli/main.js' "$@"
`,
  )
  chmodSync(command, 0o755)
}

/**
 * Fills the cache of compiled code. Otherwise each of the first processes compiles the same code, and
 * they write it all at once when a test stops them.
 */
function compile(chunks: string): void {
  const load = `const { readdirSync } = await import('node:fs')
for (const name of readdirSync('.')) await import(\`${chunks}/\${name}\`)`
  execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '--eval', load], {
    cwd: chunks,
    env: { ...process.env, NODE_COMPILE_CACHE: join(target, 'compiled') },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
