// Runs the example programs that guard an agent of a foreign framework, against a model that loops.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text as whole } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { compiled } from '../support/compiled.ts'
import { startLoopingChat } from './looping-chat.ts'

const programs = [
  'guard-ai-sdk.ts',
  'guard-langchain.ts',
  'guard-openai-agents.ts',
  'guard-own-loop.ts',
]

it.each([...programs, 'guard-with-guards.ts'])('the guide names %s', (name) => {
  const guide = new URL('../../docs/guard/guard-your-agent.md', import.meta.url)
  expect(readFileSync(guide, 'utf8')).toContain(`\`test/examples/${name}\``)
})

it.each(programs)(
  '%s ends the loop of an empty call in text after at most five requests',
  async (name) => {
    const chat = await startLoopingChat()
    try {
      expect(await run(name, { MODEL_URL: chat.url })).toEqual({
        out: `${chat.requests.length} answers, the last one: I stop here.\n`,
        errors: '',
        exit: 0,
      })
      expect(chat.requests.length).toBeLessThanOrEqual(5)
      expect(JSON.stringify(chat.requests[1])).toContain("missing required field 'command'")
    } finally {
      await chat.close()
    }
  },
)

it('guard-with-guards.ts refuses a removal by its own guard, and exits', async () => {
  expect(await run('guard-with-guards.ts')).toEqual({
    out: expect.stringMatching(/^deny: .*Nothing is removed here\./s),
    errors: '',
    exit: 0,
  })
})

async function run(name: string, env: NodeJS.ProcessEnv = {}) {
  const program = fileURLToPath(new URL(name, import.meta.url))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    env: { ...process.env, ...compiled, ...env },
  })
  const exited = once(child, 'exit')
  const [out, errors] = await Promise.all([whole(child.stdout), whole(child.stderr)])
  return { out, errors, exit: (await exited)[0] }
}
