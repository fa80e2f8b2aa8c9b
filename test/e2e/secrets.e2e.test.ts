// Keys of models and tools, as a tool that looks for them sees them, and as the log holds them.

import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, request as forwardTo } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { call, resultsOf, says, script, text } from '../support/script.ts'
import { type CommandFolder, openCommandFolder } from '../support/weir-command.ts'

const modelKey = 'sk-model-CANARY-1'
const environment = {
  MODEL_KEY: modelKey,
  OTHER_SECRET: 'other-CANARY-2',
  SPY_TOKEN: 'spy/token+CANARY 3',
  REGION: 'eu-west-1',
}
const hasProc = existsSync('/proc/self/environ')

let commands: CommandFolder | undefined
/** The keys that reached the model's server. */
const keys: unknown[] = []
const front = createServer((request, response) => {
  keys.push(/sk-model-[\w-]+/.exec(JSON.stringify(request.headers))?.[0])
  const to = { method: 'POST', headers: { 'content-type': 'application/json' } }
  const forward = forwardTo(`${commands?.server.url}${request.url}`, to, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  request.pipe(forward)
})
beforeAll(async () => {
  await once(front.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  front.close()
})
afterEach(async () => {
  await commands?.close()
  commands = undefined
  keys.length = 0
})

/** An agent with a tool of this program. The model calls it once. */
async function withTool(tool: string): Promise<CommandFolder> {
  commands = await openCommandFolder(script(says(call('spy', {})), says(text('Done.'))))
  const { folder } = commands
  const { port } = front.address() as AddressInfo
  await writeFile(
    join(folder, 'agent.yaml'),
    `system: You are under test.
model: { provider: anthropic, name: scripted, baseUrl: 'http://127.0.0.1:${port}', apiKey: '\${MODEL_KEY}', maxOutputTokens: 1000 }
fallback: This is the fallback.
tools:
  - { name: spy, description: looks around, schema: { type: object }, ${tool} }
`,
  )
  return commands
}

async function ask(folder: CommandFolder, set: Record<string, string> = environment) {
  const ended = await folder.run(['ask', '--agent', 'agent.yaml', 'go'], { environment: set })
  return { ...ended, result: String(resultsOf(folder.server.requests[1])[0]) }
}

describe('a command tool', () => {
  const inProc = hasProc ? it : it.skip

  inProc('finds no key in the environment of the process that started it', async () => {
    const folder = await withTool(`command: [sh, -c, "tr '\\\\0' '\\\\n' < /proc/$PPID/environ"]`)
    const { code, result } = await ask(folder)
    expect(code).toBe(0)
    // The process that keeps results starts it. Its environment has only the channel to Weir.
    expect(result).toMatch(/^NODE_CHANNEL_FD=/m)
    expect(result).not.toMatch(/CANARY|MODEL_KEY|OTHER_SECRET|REGION|WEIR_ENVIRONMENT/)
    expect(keys).toEqual([modelKey, modelKey])
  })

  it('gets the variables that the agent file names, and its result does not repeat the secret ones', async () => {
    const folder = await withTool(
      `environment: [SPY_TOKEN, REGION], command: [sh, -c, 'echo "$REGION $SPY_TOKEN"; printf %s "$SPY_TOKEN" | base64; env | grep -c CANARY']`,
    )
    const { result } = await ask(folder)
    expect(result).toMatch(/^eu-west-1 \[secret\]\n\S*\[secret\]\S*\n1\n?$/)
  })
})

describe('an HTTP tool', () => {
  it('whose server repeats a token of its path and query in several spellings leaves none in results, output and files', async () => {
    const server = createServer((request, response) => {
      const seen = decodeURIComponent(request.url ?? '')
      response
        .writeHead(404)
        .end(`Cannot POST ${request.url}; ${seen}; ${Buffer.from(seen).toString('base64')}`)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const folder = await withTool(
        `http: { url: 'http://127.0.0.1:${port}/hooks/\${HOOK}/x?k=\${QUERY}' }`,
      )
      const { result, out, errors } = await ask(folder, {
        ...environment,
        HOOK: 'hook-CANARY-4',
        QUERY: 'a%2Bb%2Fc%3DCANARY-5',
      })
      expect(result).toContain('Cannot POST /hooks/[secret]/x?k=[secret]')
      const log = readdirSync(join(folder.folder, '.weir')).flatMap((name) =>
        /^weir\.db(-wal)?$/.test(name)
          ? [readFileSync(join(folder.folder, '.weir', name), 'latin1')]
          : [],
      )
      expect(log).not.toEqual([])
      for (const place of [result, out, errors, ...log]) expect(place).not.toMatch(/CANARY|a\+b\/c/)
    } finally {
      server.close()
    }
  })
})

describe('a key', () => {
  it('may come from a file', async () => {
    const folder = await withTool(`command: ['true']`)
    const file = join(folder.folder, 'agent.yaml')
    await writeFile(join(folder.folder, 'key'), `${modelKey}\n`)
    await writeFile(file, readFileSync(file, 'utf8').replace('MODEL_KEY', 'file:key'))
    expect(await ask(folder, {})).toMatchObject({ code: 0 })
    expect(keys).toEqual([modelKey, modelKey])
  })
})

describe('weir up', () => {
  it('with the executor alone needs no key of a model, and with the gateway alone none of a tool', async () => {
    const folder = await withTool(`environment: [SPY_TOKEN], command: ['true']`)
    const start = async (stage: string, set: Record<string, string>) => {
      const running = folder.start(
        ['up', '--agents', 'agent.yaml', '--stages', stage, '--log-level', 'info'],
        { environment: set },
      )
      await running.shows('the stages are started')
      running.child.kill('SIGTERM')
      return (await running.ended).code
    }
    expect(await start('executor', { SPY_TOKEN: 'spy' })).toBe(0)
    expect(await start('llm-gateway', { MODEL_KEY: modelKey })).toBe(0)
    const { code, errors } = await folder.run(
      ['up', '--agents', 'agent.yaml', '--stages', 'executor'],
      { environment: { MODEL_KEY: modelKey } },
    )
    expect([code, errors]).toEqual([2, expect.stringContaining('needs the variable SPY_TOKEN')])
  })
})
