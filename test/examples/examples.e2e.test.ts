// Runs an example program on the sources, as a user of a checkout does. The test of the package
// runs all of them, with the same texts (test/package.e2e.test.ts).

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text as whole } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { anywhere } from '../support/anywhere.ts'
import { compiled } from '../support/compiled.ts'
import { examples, openExampleFolder, withModel } from './examples.ts'

it.each(examples.slice(0, 1))('$name prints its text in a checkout', async ({ name, printed }) => {
  const { folder, url, close } = await openExampleFolder()
  try {
    const source = await readFile(new URL(name, import.meta.url), 'utf8')
    const program = join(folder, name.replace('.ts', '.mts'))
    await writeFile(program, anywhere(withModel(source, url), 'sources'))
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...compiled }, // no key
    })
    const exited = once(child, 'exit')
    const [out, errors] = await Promise.all([whole(child.stdout), whole(child.stderr)])
    expect({ out, errors, exit: (await exited)[0] }).toEqual({ ...printed, exit: 0 })
  } finally {
    await close()
  }
})
