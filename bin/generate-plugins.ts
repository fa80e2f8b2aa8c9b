// Generator: writes the plug-ins of hosts, and the marketplaces that list them, from the hooks that
// `weir hooks install` writes.
//
//   node bin/generate-plugins.ts             writes all files
//   node bin/generate-plugins.ts --check     writes nothing; exit code 1 names each file that differs
//
// Owns: .claude-plugin, .agents, .github/plugin, and in integrations the hooks, the manifests of their plug-ins,
// the copies of the skill, and the versions.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { batchSince, claudeCode } from '../apps/http/hosts/claude-code.ts'
import { codex } from '../apps/http/hosts/codex.ts'
import { copilot } from '../apps/http/hosts/copilot.ts'
import { geminiCli } from '../apps/http/hosts/gemini-cli.ts'
import { withHooks } from '../apps/http/hosts/hook-settings.ts'
import { type Host, pluginEntries } from '../apps/http/hosts/host.ts'
import { pluginOf } from '../apps/http/hosts/host-plugins.ts'
import { version } from '../shared/lib/version.ts'
import { root, writeOrCheck } from './generated-file.ts'

const description =
  'Stops agents that make no progress, judges each call by your guards, and asks a person where you want it'
const author = { name: 'Weir' }
const front = 'http://127.0.0.1:4141'

type Plugin = { host: Host; hostVersion: string | null; manifest: string }

// Commands, because HTTP hooks of older versions let a call run when they fail.
const plugins: readonly Plugin[] = [
  { host: claudeCode, hostVersion: batchSince, manifest: '.claude-plugin/plugin.json' },
  { host: codex, hostVersion: null, manifest: '.codex-plugin/plugin.json' },
  { host: copilot, hostVersion: null, manifest: '.github/plugin/plugin.json' },
  { host: geminiCli, hostVersion: null, manifest: 'gemini-extension.json' },
]

/** Of the plug-ins that run inside their host. */
const filesWithVersion = [
  'integrations/weir-hooks.ts',
  'integrations/hermes/__init__.py',
  'integrations/hermes/plugin.yaml',
  'integrations/openclaw/package.json',
]

/** Each generated file by its path in the checkout. */
export function pluginFiles(): Map<string, string> {
  const files = new Map<string, string>()
  const skill = 'skills/read-the-recording/SKILL.md'
  const skillText = readFileSync(join(root, 'integrations/claude-code', skill), 'utf8')
  for (const { host, hostVersion, manifest } of plugins) {
    const folder = `integrations/${host.name}`
    const weir = `npx --yes weir-agents@${version()}`
    const uninstall = pluginOf(host.name)?.uninstall ?? ''
    const entries = pluginEntries(host, { front, weir, version: hostVersion, uninstall })
    files.set(`${folder}/hooks/hooks.json`, withHooks('', entries, 'hooks.json'))
    files.set(
      `${folder}/${manifest}`,
      json({ name: 'weir', version: version(), description, author }),
    )
    files.set(`${folder}/${skill}`, skillText)
  }
  for (const file of filesWithVersion) {
    const text = readFileSync(join(root, file), 'utf8')
    files.set(
      file,
      text.replace(/(weir-agents@|^version: |"version": ")[\w.-]+/m, `$1${version()}`),
    )
  }
  const listed = { name: 'weir', description }
  // Copilot CLI reads the second, and the first if the second is missing.
  for (const [file, host] of [
    ['.claude-plugin/marketplace.json', claudeCode],
    ['.github/plugin/marketplace.json', copilot],
  ] as const) {
    const plugins = [{ ...listed, source: `./integrations/${host.name}` }]
    files.set(file, json({ name: 'weir', owner: author, plugins }))
  }
  files.set(
    '.agents/plugins/marketplace.json',
    json({
      name: 'weir',
      interface: { displayName: 'Weir' },
      plugins: [
        {
          name: 'weir',
          source: { source: 'local', path: './integrations/codex' },
          policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
          category: 'Security',
        },
      ],
    }),
  )
  return files
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeOrCheck(
    [...pluginFiles()].map(([path, generated]) => {
      const file = join(root, path)
      return { path, text: existsSync(file) ? readFileSync(file, 'utf8') : undefined, generated }
    }),
  )
