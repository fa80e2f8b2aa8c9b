// Claude Code and Codex as processes: each run has a new home, a dummy key and a base URL on this
// machine. Nothing of the user's own settings is read.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type HostEnded = { code: number | null; out: string; errors: string }

export type HostRun = {
  home: string
  /** The folder in which the host's tools run. */
  work: string
  child: ChildProcess
  ended: Promise<HostEnded>
}

export type HostFolder = {
  home: string
  work: string
  start(program: string, args: string[], environment: Record<string, string>): HostRun
  /** Ends the processes that are left, and removes the folder. */
  close(): Promise<void>
}

/** A host that needs longer hangs. */
const runMs = 120_000

export async function openHostFolder(): Promise<HostFolder> {
  const home = await mkdtemp(join(tmpdir(), 'weir-host-'))
  const work = join(home, 'work')
  await mkdir(work)
  const children = new Set<ChildProcess>()
  return {
    home,
    work,
    start(program, args, environment) {
      const child = spawn(program, args, {
        cwd: work,
        env: { PATH: process.env.PATH ?? '', HOME: home, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true, // a group, so that nothing of it stays
      })
      children.add(child)
      let [out, errors] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text) => {
        out += text
      })
      child.stderr.setEncoding('utf8').on('data', (text) => {
        errors += text
      })
      const late = setTimeout(() => endGroup(child), runMs)
      const ended = new Promise<HostEnded>((resolve, reject) => {
        child.on('error', reject)
        child.on('close', (code) => {
          clearTimeout(late)
          resolve({ code, out, errors })
        })
      })
      return { home, work, child, ended }
    },
    async close() {
      for (const child of children) endGroup(child)
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {} // it has ended
}

/**
 * Its tools run without questions, as in a container. `url`: the model, or Weir's proxy. `config`: the
 * file with its MCP servers.
 */
export function startClaudeCode(
  folder: HostFolder,
  {
    program,
    url,
    turnsMax = 30,
    config,
  }: { program: string; url: string; turnsMax?: number; config?: string },
): HostRun {
  return folder.start(
    program,
    [
      ...['-p', 'Do the task.', '--output-format', 'json', '--max-turns', `${turnsMax}`],
      '--dangerously-skip-permissions',
      ...(config === undefined ? [] : ['--mcp-config', config, '--strict-mcp-config']),
    ],
    {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1', // it refuses to skip questions for root otherwise
    },
  )
}

/** `url`: as an OpenAI base URL, with `/v1`. */
export async function startCodex(
  folder: HostFolder,
  { program, url }: { program: string; url: string },
): Promise<HostRun> {
  await mkdir(join(folder.home, '.codex'), { recursive: true })
  await writeFile(
    join(folder.home, '.codex', 'config.toml'),
    `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`,
  )
  return folder.start(
    program,
    [
      ...['exec', '--json', '--skip-git-repo-check', 'Do the task.'],
      '--dangerously-bypass-approvals-and-sandbox',
      '--dangerously-bypass-hook-trust',
    ],
    { SCRIPTED_KEY: 'dummy' },
  )
}

/** The last text of the model, as the host shows it to its user. */
export function replyOfClaudeCode({ out }: HostEnded): string {
  const result = out.split('\n').find((line) => line.includes('"type":"result"'))
  return result === undefined ? '' : `${JSON.parse(result).result}`
}

/** The last text of the model. */
export function replyOfCodex({ out }: HostEnded): string {
  const texts = out.split('\n').flatMap((line) => {
    const event = line.startsWith('{') ? JSON.parse(line) : {}
    return event.item?.type === 'agent_message' ? [`${event.item.text}`] : []
  })
  return texts.at(-1) ?? ''
}
