// The example is a program of its own, run as a user would run it: beside its agent file.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as whole } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { startAnthropicServer } from '../../services/cli/demo/anthropic-server.ts'
import { call, says, text } from '../support/script.ts'

it('asks an agent, shows what happens, and prints the reply', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-example-'))
  const server = await startAnthropicServer((_, number) =>
    number === 1 ? says(text('I look.'), call('list', {})) : says(text('Only agent.yaml.')),
  )
  try {
    await writeFile(
      join(folder, 'agent.yaml'),
      `system: You are an example.
model: { provider: anthropic, name: scripted, baseUrl: '${server.url}', maxOutputTokens: 1000 }
tools:
  - { name: list, description: lists files, schema: { type: object }, command: [ls] }
`,
    )
    const program = fileURLToPath(new URL('./ask-an-agent.ts', import.meta.url))
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], { cwd: folder })
    const exited = once(child, 'exit')
    const [out, errors] = await Promise.all([whole(child.stdout), whole(child.stderr)])
    expect({ out, errors, exit: (await exited)[0] }).toEqual({
      out: 'answered: Only agent.yaml.\n',
      errors: 'I look.\nlist runs\nlist: ok \nOnly agent.yaml.',
      exit: 0,
    })
  } finally {
    await server.close()
    await rm(folder, { recursive: true })
  }
})
