// The sandbox of a tool in an agent file: its paths are made absolute and must exist, its hosts and
// its size must be readable.

import { realpathSync } from 'node:fs'
import { agentFileIn } from '../../../lib/sandbox/own-paths.ts'
import type { Path } from '../../../settings/mistake.ts'
import { shown } from '../../../settings/mistake.ts'
import { bytesOfSize, hostPattern, type SandboxFields, type SandboxSetting } from '../../sandbox.ts'
import type { SandboxContent } from '../content.ts'
import { exists, referred, type Source } from '../source.ts'

/** Undefined: the file sets none, or it is one of other tools. */
export function sandboxOf(
  source: Source,
  path: Path,
  content: SandboxContent | undefined,
): SandboxSetting | undefined {
  if (content === undefined || content === 'default' || content === 'off') return content
  const { read, write, network, memory, processes, cpuSeconds } = content
  const fields: SandboxFields = {
    ...(read && { read: pathsOf(source, [...path, 'read'], read) }),
    ...(write && { write: writableOf(source, [...path, 'write'], write) }),
    ...(network !== undefined && { network: networkOf(source, [...path, 'network'], network) }),
    ...(memory !== undefined && { memory }),
    ...(processes !== undefined && { processes }),
    ...(cpuSeconds !== undefined && { cpuSeconds }),
  }
  if (memory !== undefined && bytesOfSize(memory) === undefined)
    source.refuse(
      [...path, 'memory'],
      `is ${shown(memory)}; must be a size of at least 1MiB, as in 512MiB`,
    )
  return fields
}

function pathsOf(source: Source, path: Path, texts: (string | undefined)[]): string[] {
  return texts.flatMap((text, index) => pathOf(source, [...path, index], text) ?? [])
}

function pathOf(source: Source, path: Path, text: string | undefined): string | undefined {
  const place = text === undefined ? undefined : referred(source, path, text)
  return place !== undefined && exists(source, path, place, 'path') ? place.path : undefined
}

/** The sandbox refuses the same at its start. */
function writableOf(source: Source, path: Path, texts: (string | undefined)[]): string[] {
  return texts.flatMap((text, index) => {
    const at = [...path, index]
    const found = pathOf(source, at, text)
    if (found === undefined) return []
    if (agentFileIn(realpathSync(found)) !== undefined)
      source.refuse(
        at,
        `refers to ${shown(text)}, which holds the agent file; must be a folder without one, as files`,
      )
    return [found]
  })
}

function networkOf(
  source: Source,
  path: Path,
  network: 'none' | 'all' | (string | undefined)[],
): 'none' | 'all' | string[] {
  if (typeof network === 'string') return network
  for (const [index, host] of network.entries())
    if (host !== undefined && hostPattern(host) === undefined)
      source.refuse(
        [...path, index],
        `is ${shown(host)}; must be a host without a scheme or path, as in api.example.com:443`,
      )
  return network.filter((host) => host !== undefined)
}
