// Starts the program of a tool in its sandbox. A tool with a sandbox that cannot be made does not
// start.

import { resolve } from 'node:path'
import type { CommandTool, ModuleTool } from '../../agents/agents.ts'
import {
  bytesOfSize,
  hostPattern,
  type SandboxFields,
  sandboxBounds,
} from '../../agents/sandbox.ts'
import { WeirError } from '../../lib/errors.ts'
import type { Found } from '../../lib/sandbox/backend.ts'
import type { Confinement } from '../../lib/sandbox/confinement.ts'
import { confined } from '../../lib/sandbox/launch.ts'
import { declareWritable } from '../../lib/sandbox/mounts.ts'
import type { ToolEnding } from '../tool.ts'
import { notInSandbox } from '../tool-endings.ts'
import { forwarder, nodeArgv, toolProgram, weirRuntime } from '../tool-program.ts'
import type { Bounds } from './sandbox-bounds.ts'
import { proxyOf } from './sandbox-proxy.ts'

/** `usesProxy`: its environment needs `proxyEnvironment`. */
export type Sandboxed = { argv: [string, ...string[]]; usesProxy: boolean; bounds: Bounds }

/**
 * The argv that starts a tool's program in its sandbox. Undefined: the tool has none. Throws
 * `sandbox.unavailable`, `sandbox.refused`.
 */
export function sandboxed(
  run: CommandTool | ModuleTool,
  {
    argv,
    statusFd,
    forwards = 'itself',
    found,
  }: {
    argv: readonly [string, ...string[]]
    /** The descriptor of the started process that gets the status lines. */
    statusFd: number
    /** The forwarder to the proxy: a program around the tool, or the tool's program itself. */
    forwards?: 'launcher' | 'itself'
    found?: Found | undefined
  },
): Sandboxed | undefined {
  if (run.sandbox === undefined || run.sandbox === 'off') return undefined
  const confinement = confinementOf(run, run.sandbox === 'default' ? {} : run.sandbox)
  const usesProxy = typeof confinement.network === 'object'
  const { memoryBytes, processes } = confinement
  const beside = { usesProxy, bounds: { memoryBytes, processes } }
  if (!usesProxy || forwards === 'itself')
    return { argv: confined({ ...confinement, argv, statusFd }, [], found), ...beside }
  const programFiles = [...confinement.programFiles, ...weirRuntime.files]
  const programFolders = [...confinement.programFolders, ...weirRuntime.folders]
  const withForwarder = { ...confinement, programFiles, programFolders, argv, statusFd }
  return { argv: confined(withForwarder, [...nodeArgv, forwarder], found), ...beside }
}

/** Before any tool runs: no sandbox follows a link that this tool may write. */
export function declareSandbox(run: CommandTool | ModuleTool): void {
  if (run.sandbox === undefined || run.sandbox === 'off') return
  const { write = [] } = run.sandbox === 'default' ? {} : run.sandbox
  const { folders } = toolProgram(run)
  declareWritable({
    cwd: resolve(run.cwd ?? '.'),
    write: write.map((path) => resolve(path)),
    programFolders: folders,
  })
}

function confinementOf(
  run: CommandTool | ModuleTool,
  { read = [], write = [], network = 'none', memory, processes, cpuSeconds }: SandboxFields,
): Omit<Confinement, 'argv' | 'statusFd'> {
  const { files, folders } = toolProgram(run)
  const memoryBytes = bytesOfSize(memory ?? sandboxBounds.memory)
  if (memoryBytes === undefined)
    throw refused(`sandbox.memory is ${memory}; must be a size as 512MiB, at least 1MiB`)
  for (const [name, bound] of Object.entries({ processes, cpuSeconds }))
    if (bound !== undefined && (!Number.isSafeInteger(bound) || bound < 1))
      throw refused(`sandbox.${name} is ${bound}; must be a whole number from 1`)
  return {
    cwd: resolve(run.cwd ?? '.'),
    read: read.map((path) => resolve(path)),
    write: write.map((path) => resolve(path)),
    programFiles: files,
    programFolders: folders,
    network: typeof network === 'string' ? network : { proxySocket: socketFor(network) },
    memoryBytes,
    processes: processes ?? sandboxBounds.processes,
    cpuSeconds,
  }
}

function socketFor(hosts: string[]): string {
  return proxyOf(
    hosts.map((host) => {
      const pattern = hostPattern(host)
      if (pattern === undefined)
        throw refused(`sandbox.network has ${host}; must be a host, as api.example.com:443`)
      return pattern
    }),
  )
}

function refused(message: string): WeirError {
  return new WeirError('sandbox.refused', message)
}

/** The ending of a tool whose sandbox could not be made. Undefined: the error has another cause. */
export function sandboxFault(error: unknown): ToolEnding | undefined {
  if (!(error instanceof WeirError) || !error.code.startsWith('sandbox.')) return undefined
  return notInSandbox(error.message)
}
