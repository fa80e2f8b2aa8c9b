// Hosts as processes: each run has a new home and a folder for its tools. Nothing of the user's own
// settings is read.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hostPath } from './installed-hosts.ts'

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
const runMs = 480_000

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
        env: { PATH: hostPath, HOME: home, ...environment },
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
