// The surroundings of the example programs: a folder with an agent file, whose model is a script
// over real HTTP.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Reply, startAnthropicServer } from '../../apps/demo/anthropic-server.ts'
import { call, says, text } from '../support/script.ts'

/** `printed`: the expected output. */
export type Example = { name: string; printed: { out: string; errors: string } }

export const examples: Example[] = [
  {
    name: 'quickstart.ts',
    printed: {
      out: '\nTake one: it rains.\n',
      errors: 'I look.\nget_weather: ok\nTake one: it rains.',
    },
  },
  {
    name: 'ask-an-agent.ts',
    printed: {
      out: 'answered: Only agent.yaml.\n',
      errors: 'I look.\nlist runs\nlist: ok \nOnly agent.yaml.',
    },
  },
  { name: 'test-an-agent.ts', printed: { out: '', errors: '' } },
  { name: 'test-recorded.ts', printed: { out: '', errors: '' } },
  { name: 'test-a-guard.ts', printed: { out: '', errors: '' } },
  { name: 'test-time.ts', printed: { out: '', errors: '' } },
  {
    name: 'practice-model.ts',
    printed: {
      out: 'It has 18 °C and rain in Paris.\nIt has 18 °C and rain in Ulm.\n',
      errors: '',
    },
  },
  {
    name: 'context.ts',
    printed: { out: 'Order 17.\n', errors: 'list_orders: ok\n' },
  },
  {
    name: 'fork.ts',
    printed: { out: 'The hostel.\n', errors: 'A cheaper one. < A hotel in Ulm?\n' },
  },
  {
    name: 'structured-output.ts',
    printed: { out: '2 chairs to Ulm\n', errors: '' },
  },
  {
    name: 'sub-agent.ts',
    printed: { out: 'A weir is a low wall across a river.\n', errors: '' },
  },
  {
    name: 'client-tool.ts',
    printed: { out: 'You have seat 14A.\n', errors: 'pick_seat: picked 14A on LH 12\n' },
  },
  {
    name: 'approve-a-call.ts',
    printed: { out: 'money: refund {"order":17}\nDone: paid back order 17.\n', errors: '' },
  },
  {
    name: 'stop-an-agent.ts',
    printed: { out: 'cancelled\nAs you like.\n', errors: 'wait: unknown\n' },
  },
]

/** The model's behaviour follows the user's last message. */
const model = (userText: string): Reply => {
  if (userText.includes('A wrong key')) return { kind: 'error', status: 401, message: 'wrong key' }
  if (userText.includes('Which files are here?')) return says(text('I look.'), call('list', {}))
  if (userText.includes('Read every file here.')) return says(call('wait', {}))
  if (userText.includes('Write about weirs'))
    return says(call('research', { task: 'Explain a weir.' }))
  if (userText.includes('Explain a weir')) return says(text('A low wall.'))
  if (userText.includes('A low wall')) return says(text('A weir is a low wall across a river.'))
  if (userText.includes('two chairs')) return says(text('2 chairs, to Ulm.'))
  if (userText.includes('Please continue')) return says(text('{"city":"Ulm","chairs":2}'))
  if (userText.includes('A hotel in Ulm?')) return says(text('The lion.'))
  if (userText.includes('A cheaper one.')) return says(text('The hostel.'))
  if (userText.includes('did I order')) return says(call('list_orders', {}))
  if (userText.includes('A seat on LH 12')) return says(call('pick_seat', { flight: 'LH 12' }))
  if (userText.includes('picked 14A')) return says(text('You have seat 14A.'))
  if (userText.includes('order 17 of u1')) return says(text('Order 17.'))
  if (userText.includes('coat in Paris'))
    return says(text('I look.'), call('get_weather', { city: 'Paris' }))
  if (userText.includes('rain in Paris')) return says(text('Take one: it rains.'))
  return says(text(userText.includes('Never mind.') ? 'As you like.' : 'Only agent.yaml.'))
}

/** `url`: of the model. */
export type ExampleFolder = { folder: string; url: string; close(): Promise<void> }

/** The program with the script as its model. */
export function withModel(program: string, url: string): string {
  return program.replaceAll(`('claude-sonnet-5-5')`, `('scripted', { baseUrl: '${url}' })`)
}

export async function openExampleFolder(): Promise<ExampleFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-example-'))
  const server = await startAnthropicServer(({ messages }) =>
    model(JSON.stringify(messages.at(-1))),
  )
  await writeFile(
    join(folder, 'agent.yaml'),
    `name: my-agent
system: You are an example.
model: { provider: anthropic, name: scripted, baseUrl: '${server.url}', maxOutputTokens: 1000 }
tools:
  - { name: list, description: lists files, schema: { type: object }, command: [ls] }
  - { name: wait, description: takes an hour, schema: { type: object }, command: [sleep, '3600'] }
`,
  )
  return {
    folder,
    url: server.url,
    async close() {
      await server.close()
      await rm(folder, { recursive: true })
    },
  }
}
