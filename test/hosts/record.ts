// Records the requests and the hook payloads of both hosts into test/hosts/recorded. Run it for a new
// version: node_modules/.bin/node test/hosts/record.ts
// Long texts of the hosts (prompts, descriptions of tools) become their lengths: only forms count.

import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { claudeCode } from '../../apps/http/hosts/claude-code.ts'
import { codex } from '../../apps/http/hosts/codex.ts'
import { withHooks } from '../../apps/http/hosts/hook-settings.ts'
import type { Host } from '../../apps/http/hosts/host.ts'
import { type HostFolder, openHostFolder, startClaudeCode, startCodex } from './host-run.ts'
import { hostPackages, installedHosts } from './installed-hosts.ts'
import { type Script, startModelServer } from './model-server.ts'
import type { Recorded } from './recorded-host.ts'

/** Characters of the longest text that stays. */
const longText = 200

const hosts = await installedHosts()

await record(claudeCode, hostPackages['@anthropic-ai/claude-code'], 'Bash', 'command', {
  start: (folder, url) => startClaudeCode(folder, { program: hosts.claude, url }),
})
await record(codex, hostPackages['@openai/codex'], 'exec_command', 'cmd', {
  start: (folder, url) => startCodex(folder, { program: hosts.codex, url: `${url}/v1` }),
})

type Start = (
  folder: HostFolder,
  url: string,
) => ReturnType<typeof startCodex> | ReturnType<typeof startClaudeCode>

async function record(
  host: Host,
  version: string,
  tool: string,
  argument: string,
  { start }: { start: Start },
): Promise<void> {
  const command = (text: string) => ({ name: tool, input: JSON.stringify({ [argument]: text }) })
  const script: Script = (_, number) => {
    if (number === 1)
      return { text: 'I look.', calls: [command('echo one'), command('ls missing')] }
    return number === 2 ? { calls: [{ name: tool, input: '{}' }] } : { text: 'Done.' }
  }
  const model = await startModelServer(script)
  const folder = await openHostFolder()
  const hooks: Recorded['hooks'] = []
  const server = createServer(async (request, response) => {
    hooks.push({
      kind: request.url?.split('/').at(-1) ?? '',
      body: JSON.parse(await textOf(request)),
    })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const places = { home: folder.home, folder: folder.work, environment: {} }
    const file = host.settingsFile('user', places)
    await mkdir(join(file, '..'), { recursive: true })
    const entries = host.entries((kind) => `${base}/v1/hooks/${host.name}/${kind}`, version)
    await writeFile(file, withHooks('', entries, file))
    const run = await start(folder, model.url)
    const { code, errors } = await run.ended
    if (code !== 0) throw new Error(`${host.title} ended with ${code}: ${errors}`)
    const recorded: Recorded = {
      host: host.name,
      version,
      requests: model.requests.map(({ path, headers, body }) => ({
        path,
        headers: identityOf(headers),
        body,
      })),
      hooks,
    }
    const target = join(import.meta.dirname, 'recorded', `${host.name}.json`)
    await writeFile(target, `${JSON.stringify(scrubbed(recorded, folder.home), undefined, 1)}\n`)
  } finally {
    await model.close()
    server.closeAllConnections()
    server.close()
    await folder.close()
  }
}

/** The headers that name a session, a thread, a turn or the program. */
function identityOf(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(x-claude|x-codex|session-id|thread-id|user-agent|anthropic-version|originator)/.test(name),
    ),
  )
}

/** Ids become numbers in their order, paths of the machine one home, long texts their lengths. */
function scrubbed(value: unknown, home: string): unknown {
  const ids = new Map<string, string>()
  const idOf = (id: string) => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${`${ids.size + 1}`.padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  const text = (one: string) =>
    (one.length > longText && !one.startsWith('{') ? shortened(one) : one)
      .replaceAll(home, '/home/user')
      .replaceAll(home.replaceAll('/', '-'), '-home-user')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, idOf)
      .replace(/\b[0-9a-f]{32,64}\b/g, '(hash)')
      .replace(/"(turn_started_at_unix_ms)":\d+/g, '"$1":0')
      .replace(/\(Debian[^)]*\)|\(\w+ [\d.]+; x86_64\)/g, '(system)')
      .replace(/Chunk ID: \w+/g, 'Chunk ID: 000000')
      .replace(/Wall time: [\d.]+/g, 'Wall time: 0.0000')
      .replace(/rollout-[\dT-]+-/g, 'rollout-')
      .replace(/sessions\/\d+\/\d+\/\d+/g, 'sessions')
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return text(one)
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(
      Object.entries(one).map(([key, each]) => [
        key,
        key === 'duration_ms' ? 0 : key === 'tools' ? toolsOf(each).map(walk) : walk(each),
      ]),
    )
  }
  return walk(value)
}

/** The tags around a text stay: readers know a host's own texts by them. */
function shortened(text: string): string {
  const tag = /^<([\w-]+)>/.exec(text)?.[1]
  const length = `(${text.length} characters)`
  return tag === undefined ? length : `<${tag}>${length}</${tag}>`
}

/** The called tools only. */
function toolsOf(tools: unknown): unknown[] {
  return (tools as { name?: string }[]).filter(({ name }) =>
    ['Bash', 'Write', 'exec_command', 'write_stdin'].includes(name ?? ''),
  )
}
