// The hosts of the suite, installed once into a folder outside the checkout. They are 800 MB and no
// dependency of Weir.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The versions that docs/internals/hosts.md reports. */
export const hostPackages = {
  '@anthropic-ai/claude-code': '2.1.330',
  '@openai/codex': '0.169.0',
}

export const pythonPackages = {
  openai: '3.54.0',
  langgraph: '1.2.22',
  'langchain-openai': '1.7.3',
  'pydantic-ai-slim[openai]': '2.68.0',
  'openai-agents': '0.24.0',
}

/**
 * Not in one environment with the others: litellm needs an older client of OpenAI. Its Responses API
 * imports `mcp`.
 */
export const litellmPackages = { litellm: '1.106.2', mcp: '2.3.0' }

export const mcpPackages = { mcp: '2.3.0' }

export const inspectorVersion = '2.12.0'

export type InstalledHosts = { claude: string; codex: string }

const cache = process.env.WEIR_HOSTS_FOLDER ?? join(homedir(), '.cache', 'weir', 'hosts')

/** The programs. Installs them if they are missing. */
export async function installedHosts(): Promise<InstalledHosts> {
  const packages = Object.entries(hostPackages).map(([name, version]) => `${name}@${version}`)
  const folder = join(cache, packages.join('_').replace(/[^\w.-]+/g, '-'))
  const done = join(folder, 'installed')
  if (!existsSync(done)) {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{"private": true}\n')
    await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder })
    const installer = join(folder, 'node_modules/@anthropic-ai/claude-code/install.cjs')
    await run(process.execPath, [installer])
    await writeFile(done, '')
  }
  const bin = (name: string) => join(folder, 'node_modules', '.bin', name)
  return { claude: bin('claude'), codex: bin('codex') }
}

/** The program of the inspector, for Node. Its web clients are left out. */
export async function installedInspector(): Promise<string> {
  const folder = join(cache, `inspector-${inspectorVersion}`)
  const done = join(folder, 'installed')
  if (!existsSync(done)) {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{"private": true}\n')
    const wanted = `@modelcontextprotocol/inspector@${inspectorVersion}`
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', wanted], {
      cwd: folder,
    })
    await writeFile(done, '')
  }
  return join(folder, 'node_modules', '.bin', 'mcp-inspector')
}

/** A Python with the clients. Undefined: this machine has no Python 3 with venv. */
export async function installedPython(
  wanted: Record<string, string> = pythonPackages,
): Promise<string | undefined> {
  const packages = Object.entries(wanted).map(([name, version]) => `${name}==${version}`)
  const folder = join(cache, `python-${packages.join('_').replace(/[^\w.-]+/g, '-')}`)
  const python = join(folder, 'bin', 'python')
  const done = join(folder, 'installed')
  if (existsSync(done)) return python
  try {
    await run('python3', ['-m', 'venv', folder])
  } catch {
    return undefined
  }
  await run(python, ['-m', 'pip', 'install', '--quiet', ...packages])
  await writeFile(done, '')
  return python
}
