// What Node compiled once is kept for the processes that tests start: it takes half of the time in
// which the stages start.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'node_modules', '.cache', 'weir-command')

/** For the environment of a process. */
export const compiled = { NODE_COMPILE_CACHE: folder }

/**
 * Before many processes start: otherwise each of them compiles the same, and writes it when it is
 * stopped, all of them at once. Where everything is there already, it takes as long as one start.
 */
export function compileStages(): void {
  const files = [
    'apps/service/up.ts',
    'services/stages.ts',
    'shared/bus/kafka/bus.ts',
    'services/llm-gateway/providers/anthropic/connect.ts',
  ]
  const source = `await Promise.all(${JSON.stringify(files.map((file) => join(root, file)))}.map((file) => import(file)))`
  const run = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', source]
  execFileSync(process.execPath, run, {
    env: { ...process.env, ...compiled },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
