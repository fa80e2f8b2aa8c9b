// `weir hooks` on files, with programs that answer as the hosts do.

import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { pino } from 'pino'
import { markedRoutes } from '../../../../apps/http/fronts/front-mark.ts'
import { hookRoutes } from '../../../../apps/http/fronts/hooks/hook-routes.ts'
import { hostSessions } from '../../../../apps/http/fronts/hooks/host-sessions.ts'
import { guardsByAgent } from '../../../../apps/http/guards-by-agent.ts'
import {
  type HooksContext,
  type HooksOptions,
  installHooks,
  removeHooks,
  showHooks,
} from '../../../../apps/http/hosts/hooks-command.ts'
import { startHttpServer } from '../../../../apps/http/server.ts'
import { systemClock } from '../../../../shared/lib/clock.ts'
import { output } from '../../../support/output.ts'
import { scriptedGuard } from '../scripted-guard.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-hooks-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Command = typeof installHooks

async function run(
  command: Command,
  name: string,
  options: Partial<HooksOptions> = {},
): Promise<{ code: number; text: string }> {
  const { stream, text } = output()
  const context: HooksContext = {
    home: folder,
    folder: join(folder, 'project'),
    environment: {},
    input: { isTTY: false } as NodeJS.ReadStream,
    out: stream,
    errors: stream,
  }
  // Nothing listens on port 9.
  const code = await command(name, { url: 'http://127.0.0.1:9', ...options }, context)
  return { code, text: text() }
}

/** A program of the host that prints this version. */
async function program(version: string, more = ''): Promise<string> {
  const file = join(folder, 'host')
  await writeFile(file, `#!/bin/sh\n${more}\necho '${version}'\n`)
  await chmod(file, 0o755)
  return file
}

const settings = () => join(folder, '.claude', 'settings.json')

describe('weir hooks install', () => {
  it('shows the change and writes nothing without --yes where no person can answer', async () => {
    const { code, text } = await run(installHooks, 'claude-code', {
      program: await program('2.1.330 (Claude Code)'),
    })
    expect(code).toBe(1)
    expect(text).toMatch(
      /^\+ +"command": ".*'http:\/\/127\.0\.0\.1:9\/v1\/hooks\/claude-code\/pre'/m,
    )
    expect(text).toContain('Nothing was changed. Add --yes to write it.')
    await expect(stat(settings())).rejects.toThrow('ENOENT')
  })

  it('writes the hooks of the version that the program prints, and names the gaps', async () => {
    const host = await program('2.1.330 (Claude Code)')
    const { code, text } = await run(installHooks, 'claude-code', { program: host, yes: true })
    expect(code).toBe(0)
    expect(text).toContain('Claude Code 2.1.330')
    expect(text).toContain('Nothing answers at http://127.0.0.1:9')
    expect(text).toContain('Not protected with this version:')
    const { hooks } = JSON.parse(await readFile(settings(), 'utf8'))
    const commandWith = (text: string) => [
      { hooks: [{ type: 'command', command: expect.stringContaining(text) }] },
    ]
    const stop = commandWith('http://127.0.0.1:9/v1/hooks/claude-code/stop')
    expect(hooks).toMatchObject({
      PreToolUse: commandWith('exit 2'),
      Stop: stop,
      SubagentStop: stop,
    })
  })

  it('keeps a link and the rights of its file', async () => {
    const file = join(folder, 'dotfile')
    await writeFile(file, '{}\n', { mode: 0o644 })
    await run(installHooks, 'codex', { program: join(folder, 'missing'), yes: true })
    await run(removeHooks, 'codex', { yes: true })
    await symlink(file, join(folder, '.codex', 'hooks.json'))
    await run(installHooks, 'codex', { program: join(folder, 'missing'), yes: true })
    expect((await lstat(join(folder, '.codex', 'hooks.json'))).isSymbolicLink()).toBe(true)
    expect((await stat(file)).mode & 0o777).toBe(0o644)
    expect(await readFile(file, 'utf8')).toContain('/v1/hooks/codex/pre')
  })

  it.each([
    ['claud', {}, /unknown host "claud"\. Did you mean claude-code\?/],
    ['emacs', {}, /Hosts: claude-code, codex/],
    ['codex', { url: 'localhost:4141' }, /must be the address of weir proxy/],
    ['codex', { url: "http://127.0.0.1/'; true" }, /no user, password, blank or quote/],
    ['codex', { url: 'http://user:secret@127.0.0.1' }, /no user, password/],
    ['codex', { agent: '../x' }, /--agent is/],
    ['codex', { agent: 'My.Agent' }, /--agent is "My\.Agent"; must be 1 to 64 of a-z, 0-9 and -/],
  ])('refuses %s with %j', async (name, options, reason) => {
    await expect(run(installHooks, name, options)).rejects.toThrow(reason)
  })
})

describe('weir hooks remove', () => {
  it('removes the file that install has made', async () => {
    await run(installHooks, 'claude-code', { program: await program('2.1.330'), yes: true })
    expect(await run(removeHooks, 'claude-code', { yes: true })).toMatchObject({ code: 0 })
    await expect(stat(settings())).rejects.toThrow('ENOENT')
  })

  it('changes nothing without hooks', async () => {
    const { code, text } = await run(removeHooks, 'claude-code')
    expect([code, text]).toEqual([0, expect.stringContaining('needs no change')])
  })
})

describe('weir hooks status', () => {
  it('names Weir at the address, and asks neither the provider nor a guest', async () => {
    const guard = scriptedGuard()
    const log = pino({ level: 'silent' })
    const { guardOf } = guardsByAgent(async () => guard)
    const toProvider: string[] = []
    const server = await startHttpServer({
      host: '127.0.0.1',
      port: 0,
      log,
      routes: [
        markedRoutes,
        hookRoutes({ guardOf, sessions: hostSessions(systemClock), clock: systemClock, log }),
        (app) => {
          app.all('*', ({ req, body }) => {
            toProvider.push(req.path)
            return body(null, 200)
          })
        },
      ],
    })
    const { text } = await run(installHooks, 'claude-code', {
      program: await program('2.1.330'),
      url: server.url,
      yes: true,
    })
    await server.close()
    expect(text).toContain(`Weir answers at ${server.url}`)
    expect([toProvider, guard.asked]).toEqual([[], []])
  })

  it.each([
    ['<html>files</html>', 200],
    ['{"hooks":[]}', 404],
  ])('names another server that answers %s', async (body, status) => {
    const server = createServer((_, answer) => answer.writeHead(status).end(body))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { text } = await run(installHooks, 'claude-code', {
      program: await program('2.1.330'),
      url,
      yes: true,
    })
    server.closeAllConnections()
    server.close()
    expect(text).toContain(`Another server answers at ${url}, without the hooks of Weir`)
  })

  it('asks to install the hooks of an earlier version again', async () => {
    const host = await program('2.1.330')
    const url = 'http://127.0.0.1:9/v1/hooks/guest/pre'
    const PreToolUse = [{ matcher: '*', hooks: [{ type: 'http', url, timeout: 610 }] }]
    await mkdir(dirname(settings()), { recursive: true })
    await writeFile(settings(), JSON.stringify({ hooks: { PreToolUse } }))
    const old = await run(showHooks, 'claude-code', { program: host })
    const again = 'Install them again: weir hooks install claude-code'
    expect([old.code, old.text]).toEqual([1, expect.stringContaining(again)])
    await run(installHooks, 'claude-code', { program: host, agent: 'guest', yes: true })
    const { code, text } = await run(showHooks, 'claude-code', { program: host })
    expect([code, text]).toEqual([0, expect.not.stringContaining('again')])
  })

  it('answers no without hooks', async () => {
    const { code, text } = await run(showHooks, 'codex', { program: join(folder, 'missing') })
    expect(code).toBe(1)
    expect(text).toContain(`'${join(folder, 'missing')}' does not run here`)
    expect(text).toContain('Install them: weir hooks install codex')
  })

  it.each([
    ['untrusted', 'Codex skips hooks that you have not reviewed'],
    ['trusted', 'you have reviewed them'],
  ])('tells the review of Codex: %s', async (trustStatus, expected) => {
    const sourcePath = join(folder, '.codex', 'hooks.json')
    const hooks = [{ sourcePath, eventName: 'preToolUse', trustStatus }]
    const answer = JSON.stringify({ id: 2, result: { data: [{ hooks }] } })
    const host = await program(
      'codex-cli 0.169.0',
      `if [ "$1" = app-server ]; then read -r line; echo '{"id":1,"result":{}}'; echo '${answer}'; cat > /dev/null; exit; fi`,
    )
    const { text } = await run(installHooks, 'codex', { program: host, yes: true })
    expect(text).toContain(expected)
  })

  it('warns of a setting that turns hooks off', async () => {
    const host = await program('2.1.330')
    await run(installHooks, 'claude-code', { program: host, yes: true })
    const value = JSON.parse(await readFile(settings(), 'utf8'))
    await writeFile(settings(), JSON.stringify({ ...value, disableAllHooks: true }))
    const { text } = await run(showHooks, 'claude-code', { program: host })
    expect(text).toContain('disableAllHooks is true')
  })
})

const integrations = fileURLToPath(new URL('../../../../integrations', import.meta.url))

/** The files that the hosts write when they install the plug-in. */
const installedPlugins: [string, string, string][] = [
  ['claude-code', '.claude/settings.json', '{"enabledPlugins": {"weir@weir": true}}'],
  ['codex', '.codex/config.toml', '[plugins."weir@weir"]\nenabled = true\n'],
  [
    'opencode',
    '.config/opencode/opencode.jsonc',
    '{\n  // a comment\n  "plugin": ["/src/weir/integrations/opencode"],\n}\n',
  ],
  ['pi', '.pi/agent/settings.json', '{"packages": ["../../src/weir/integrations/pi"]}'],
  [
    'openclaw',
    '.openclaw/openclaw.json',
    '{"plugins": {"load": {"paths": ["/w/integrations/openclaw"]}, "entries": {"weir": {"enabled": true}}}}',
  ],
  ['hermes', '.hermes/config.yaml', 'plugins:\n  enabled: [weir] # a comment\n  disabled: []\n'],
]

const claudeSettings = '{"enabledPlugins": {"weir@weir": true}}'
const clineCopy = '.cline/plugins/_installed/local/weir-1/package'

/** The file that names the plug-in, and a file of the copy that the host has made. */
const copiedPlugins: [string, [string, string], [string, string]][] = [
  [
    'claude-code',
    ['.claude/settings.json', claudeSettings],
    ['.claude/plugins/cache/weir/weir/0.1.0/hooks/hooks.json', 'claude-code/hooks/hooks.json'],
  ],
  [
    'codex',
    ['.codex/config.toml', '[plugins."weir@weir"]'],
    ['.codex/plugins/cache/weir/weir/0.1.0/hooks/hooks.json', 'codex/hooks/hooks.json'],
  ],
  [
    'gemini-cli',
    ['.gemini/extensions/weir/gemini-extension.json', '{"name": "weir"}'],
    ['.gemini/extensions/weir/hooks/hooks.json', 'gemini-cli/hooks/hooks.json'],
  ],
  [
    'cline',
    [`${clineCopy}/package.json`, '{"name": "weir"}'],
    [`${clineCopy}/weir-hooks.ts`, 'weir-hooks.ts'],
  ],
  [
    'hermes',
    ['.hermes/config.yaml', 'plugins: {enabled: [weir]}'],
    ['.hermes/plugins/weir/__init__.py', 'hermes/__init__.py'],
  ],
]

/** Lines that the hosts do not read, or read as a plug-in that is off. */
const notInstalled: [string, string, string][] = [
  ['codex', '.codex/config.toml', '# [plugins."weir@weir"]\n'],
  ['codex', '.codex/config.toml', '[plugins."weir@weir"]\nenabled = false\n'],
  [
    'opencode',
    '.config/opencode/opencode.jsonc',
    '{\n  // "plugin": ["/src/weir/integrations/opencode"],\n  "model": "a/b",\n}\n',
  ],
  ['openclaw', '.openclaw/openclaw.json', '{"plugins": {"entries": {"weir": {"enabled": false}}}}'],
  ['hermes', '.hermes/config.yaml', 'plugins:\n  enabled:\n    # - weir\n'],
  ['hermes', '.hermes/config.yaml', 'plugins: {enabled: [weir], disabled: [weir]}\n'],
  ['hermes', '.hermes/config.yaml', 'plugins: [weir\n'],
  ['opencode', '.config/opencode/opencode.json', '{"notes": "/src/weir/integrations/opencode"}'],
]

describe("weir hooks and Weir's plug-ins", () => {
  it.each(notInstalled)('find no plug-in of %s in %s with %j', async (host, name, text) => {
    const file = join(folder, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    const { code, text: status } = await run(showHooks, host)
    expect([code, status]).toEqual([1, expect.not.stringContaining("has Weir's plug-in")])
  })

  it.each(installedPlugins)('know the plug-in of %s', async (host, name, text) => {
    const file = join(folder, name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    const { code, text: status } = await run(showHooks, host)
    expect([code, status]).toEqual([
      0,
      expect.stringMatching(/has Weir's plug-in for .* Remove it: /),
    ])
    await expect(run(installHooks, host, { yes: true })).rejects.toThrow(
      /judges each call already\. Keep it, or remove it first: /,
    )
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  it.each(copiedPlugins)('name a copy of another version for %s', async (host, named, copy) => {
    const own = await readFile(join(integrations, copy[1]), 'utf8')
    await mkdir(dirname(join(folder, named[0])), { recursive: true })
    await mkdir(dirname(join(folder, copy[0])), { recursive: true })
    await writeFile(join(folder, named[0]), named[1])
    await writeFile(join(folder, copy[0]), `${own}\n`)
    const old = await run(showHooks, host)
    expect(old).toMatchObject({ code: 1, text: expect.stringContaining('Install it again: ') })
    await writeFile(join(folder, copy[0]), own)
    expect(await run(showHooks, host)).toMatchObject({ code: 0 })
  })

  it.each(['cline', 'opencode', 'pi', 'hermes', 'openclaw'])(
    'name the way to install the one of %s',
    async (host) => {
      const { code, text } = await run(showHooks, host)
      expect([code, text]).toEqual([1, expect.stringContaining(`Install it: ${host} `)])
      await expect(run(installHooks, host)).rejects.toThrow(/has no hooks for Weir, but Weir has a/)
    },
  )

  it('install hooks where a plug-in of Claude Code is off', async () => {
    const file = settings()
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '{"enabledPlugins": {"weir@weir": false}}')
    expect(await run(installHooks, 'claude-code', { yes: true })).toMatchObject({ code: 0 })
  })
})
