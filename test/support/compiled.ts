// A cache of the code that Node compiled, for processes that tests start. Without it, compiling
// takes half of the stages' start. bin/weir uses the same folder, so no code is compiled twice.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'node_modules', '.cache', 'weir')

/** For the environment of a process. */
export const compiled = { NODE_COMPILE_CACHE: folder }

/**
 * Call it before many processes start. Otherwise each of them compiles the same code and writes it
 * when it is stopped, all at once. With a full cache it takes as long as one start.
 */
export function compileStages(): void {
  const files = [
    'apps/service/up.ts',
    'services/stages.ts',
    'shared/bus/kafka/bus.ts',
    'services/llm-gateway/performer/providers/sdk/anthropic.ts',
  ]
  const source = `await Promise.all(${JSON.stringify(files.map((file) => join(root, file)))}.map((file) => import(file)))`
  const run = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', source]
  execFileSync(process.execPath, run, {
    env: { ...process.env, ...compiled },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
