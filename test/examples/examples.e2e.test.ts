// Runs the example programs as a user would, beside an agent file.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text as whole } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { examples, openExampleFolder } from './examples.ts'

it.each(examples)('$name prints the text that it describes', async ({ name, printed }) => {
  const { folder, close } = await openExampleFolder()
  try {
    const program = fileURLToPath(new URL(name, import.meta.url))
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      cwd: folder,
    })
    const exited = once(child, 'exit')
    const [out, errors] = await Promise.all([whole(child.stdout), whole(child.stderr)])
    expect({ out, errors, exit: (await exited)[0] }).toEqual({ ...printed, exit: 0 })
  } finally {
    await close()
  }
})
