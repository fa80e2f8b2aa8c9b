// The programs that serve an agent, as a user runs them. The client is the AI SDK's own, as in a page
// with useChat.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text as whole } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { DefaultChatTransport } from 'ai'
import { PageChat } from '../apps/http/edge/ui-stream/page-chat.ts'
import { anywhere } from '../support/anywhere.ts'
import { compiled } from '../support/compiled.ts'
import { type ExampleFolder, openExampleFolder, withModel } from './examples.ts'

/** Gives a program any free port in place of 3000, and prints it. */
const onAnyPort = `data:text/javascript,${encodeURIComponent(`
  import { Server } from 'node:net'
  const { listen } = Server.prototype
  Server.prototype.listen = function (...options) {
    const given = options[0]?.port ?? options[0]
    if (given !== 3000) return listen.apply(this, options)
    this.once('listening', () => console.log('port', this.address().port))
    return listen.call(this, 0, '127.0.0.1')
  }
`)}`

async function writeProgram({ folder, url }: ExampleFolder, name: string): Promise<string> {
  for (const file of ['serve-agent.ts', name]) {
    const source = await readFile(new URL(file, import.meta.url), 'utf8')
    const text = anywhere(withModel(source, url)).replace('./serve-agent.ts', './serve-agent.mts')
    await writeFile(join(folder, file.replace('.ts', '.mts')), text)
  }
  return join(folder, name.replace('.ts', '.mts'))
}

function run(folder: string, program: string) {
  const flags = ['--disable-warning=ExperimentalWarning', '--import', onAnyPort]
  return spawn(process.execPath, [...flags, program], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...compiled },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

it.each([
  ['serve-node.ts', '', undefined],
  ['serve-users.ts', '', { cookie: 'session=secret-of-ada' }],
  ['serve-hono.ts', '/api/weir', undefined],
  ['serve-express.ts', '/api/weir', undefined],
])('%s serves useChat to its users and the console to the key', async (name, path, user) => {
  const example = await openExampleFolder()
  const child = run(example.folder, await writeProgram(example, name))
  try {
    const [printed] = await once(child.stdout, 'data')
    const url = `http://127.0.0.1:${/port (\d+)/.exec(String(printed))?.[1]}${path}`
    expect((await fetch(`${url}/v1/models`)).status).toBe(401)
    const key = (await readFile(join(example.folder, '.weir', 'weir.key'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${key}` }
    const sent = { api: `${url}/v1/ui-stream`, headers: user ?? headers }
    const transport = new DefaultChatTransport(sent)
    const chat = new PageChat('', { transport })
    await chat.sendMessage({ text: 'Do I need a coat in Paris?' })
    expect(chat.shown).toMatchObject([
      { type: 'text', text: 'I look.' },
      { toolName: 'get_weather', output: '18 °C and rain in Paris' },
      { type: 'text', text: 'Take one: it rains.' },
    ])
    const script = /src="(console\/[^"]+)"/.exec(await (await fetch(`${url}/console`)).text())?.[1]
    expect((await fetch(`${url}/${script}`)).status).toBe(200)
    expect((await fetch(`${url}/console/api/state`, { headers })).status).toBe(200)
  } finally {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    await example.close()
  }
})

it('serve-next.ts exports handlers that answer requests of a route', async () => {
  const example = await openExampleFolder()
  try {
    await writeProgram(example, 'serve-next.ts')
    const program = join(example.folder, 'requests.mts')
    await writeFile(
      program,
      `import { readFileSync } from 'node:fs'
import { GET, POST } from './serve-next.mts'
const path = 'http://localhost:3000/api/weir/v1'
console.log((await GET(new Request(path + '/models'))).status)
const key = readFileSync('.weir/weir.key', 'utf8').trim()
const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Do I need a coat in Paris?' }] }]
const answer = await POST(new Request(path + '/ui-stream', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
  body: JSON.stringify({ id: 'c1', messages }),
}))
console.log(await answer.text())
process.exit()
`,
    )
    const printed = await whole(run(example.folder, program).stdout)
    expect(printed).toMatch(/^401\n/)
    expect(printed).toContain('"output":"18 °C and rain in Paris"')
    expect(printed).toContain('data: [DONE]')
  } finally {
    await example.close()
  }
})
