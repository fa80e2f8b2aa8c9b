// An example that serves on port 3000, started as a user does, on a free port.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compiled } from './compiled.ts'

/** `packages`: those that the example imports. They are not installed in the folder. */
export async function exampleProgram(
  name: string,
  {
    folder,
    packages,
    environment,
  }: { folder: string; packages: readonly string[]; environment: Record<string, string> },
) {
  let text = readFileSync(new URL(`../examples/${name}.ts`, import.meta.url), 'utf8')
  for (const one of packages) text = text.replace(`'${one}'`, `'${import.meta.resolve(one)}'`)
  const file = join(folder, `${name}.mts`)
  const listening =
    "listen(0, '127.0.0.1', function () { console.log('port', this.address().port) })"
  writeFileSync(file, text.replace('listen(3000)', listening))
  const child = spawn(process.execPath, [file], {
    env: { PATH: process.env.PATH, ...compiled, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(child.stdout, 'data')
  return {
    url: `http://127.0.0.1:${/port (\d+)/.exec(String(printed))?.[1]}`,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}
