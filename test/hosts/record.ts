// Records the requests and the hook payloads of both hosts into test/hosts/recorded. Run it for a new
// version: node_modules/.bin/node test/hosts/record.ts
// Only forms count, so long texts of the hosts are replaced (scrub.ts).

import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { withHooks } from '../../apps/http/hosts/hook-settings.ts'
import { openHostFolder } from './host-run.ts'
import { versionOf } from './installed-hosts.ts'
import { type Script, startModelServer } from './model-server.ts'
import { command, type Program, startProgram } from './programs/program.ts'
import { claudeCode, codex } from './programs/terminal-agents.ts'
import type { Recorded } from './recorded-host.ts'
import { scrubber } from './scrub.ts'

await record(claudeCode)
await record(codex)

async function record(program: Program): Promise<void> {
  const { hooks: host, shell } = program
  if (host === undefined) throw new Error(`${program.title} has no hooks`)
  const version = versionOf(program.package)
  const script: Script = (_, number) => {
    if (number === 1)
      return {
        text: 'I look.',
        calls: [command(program, 'echo one'), command(program, 'ls missing')],
      }
    return number === 2 ? { calls: [{ name: shell.name, input: '{}' }] } : { text: 'Done.' }
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
    const run = await startProgram(program, folder, { url: model.url })
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
    await writeFile(target, `${JSON.stringify(scrubber(folder.home)(recorded), undefined, 1)}\n`)
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
