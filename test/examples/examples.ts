// The surroundings of the example programs: a folder with an agent file, whose model is a script
// behind real HTTP.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAnthropicServer } from '../../apps/demo/anthropic-server.ts'
import { call, says, text } from '../support/script.ts'

/** `printed`: the expected output. */
export type Example = { name: string; printed: { out: string; errors: string } }

export const examples: Example[] = [
  {
    name: 'quickstart.ts',
    printed: {
      out: 'answered: Only agent.yaml.\n',
      errors: 'I look.\nlist: ok\nOnly agent.yaml.',
    },
  },
  {
    name: 'ask-an-agent.ts',
    printed: {
      out: 'answered: Only agent.yaml.\n',
      errors: 'I look.\nlist runs\nlist: ok \nOnly agent.yaml.',
    },
  },
  {
    name: 'stop-an-agent.ts',
    printed: { out: 'cancelled\nAs you like.\n', errors: 'wait: outcome_unknown\n' },
  },
]

/** The model's behaviour follows the user's last message. */
const model = (userText: string) => {
  if (userText.includes('Which files are here?')) return says(text('I look.'), call('list', {}))
  if (userText.includes('Wait an hour.')) return says(call('wait', {}))
  return says(text(userText.includes('Never mind.') ? 'As you like.' : 'Only agent.yaml.'))
}

export type ExampleFolder = { folder: string; close(): Promise<void> }

export async function openExampleFolder(): Promise<ExampleFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-example-'))
  const server = await startAnthropicServer(({ messages }) =>
    model(JSON.stringify(messages.at(-1))),
  )
  await writeFile(
    join(folder, 'agent.yaml'),
    `name: starter
system: You are an example.
model: { provider: anthropic, name: scripted, baseUrl: '${server.url}', maxOutputTokens: 1000 }
tools:
  - { name: list, description: lists files, schema: { type: object }, command: [ls] }
  - { name: wait, description: takes an hour, schema: { type: object }, command: [sleep, '3600'] }
`,
  )
  return {
    folder,
    async close() {
      await server.close()
      await rm(folder, { recursive: true })
    },
  }
}
