// The part of the system that every sandbox sees, read-only: programs, libraries, and the few files
// of /etc that programs need. Homes, /var, /run and keys below /etc are left out.

import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Mount } from './confinement.ts'
import { isIn } from './links.ts'

const folders = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'],
  ...['/gnu/store', '/run/current-system/sw'],
]

/** Few, because each mount takes time at each start. */
const etcNames = [
  ...['alternatives', 'crypto-policies', 'fonts', 'group', 'hosts', 'ld.so.cache', 'localtime'],
  ...['nsswitch.conf', 'passwd', 'pki/ca-trust', 'pki/tls/certs', 'ssl/certs'],
]
/** Needed only with the network of this machine. */
const etcNamesOfNetwork = ['gai.conf', 'host.conf', 'protocols', 'resolv.conf', 'services']

/** Parts of the system that no sandbox may write, although a project may lie in `/usr/src`. */
const fixed = [
  ...folders.filter((folder) => folder !== '/usr'),
  ...['/etc', '/usr/bin', '/usr/sbin', '/usr/lib', '/usr/lib64', '/usr/libexec', '/usr/local/bin'],
]

/** A sandbox makes these itself. */
const made = ['/proc', '/sys', '/dev']

/** Folders with more than one program's files. A program's folder is never one of them. */
const shared = ['/', '/home', '/root', '/tmp', '/var', '/run', '/mnt', '/media', '/srv', '/etc']

const known = new Map<boolean, Mount[]>()

/** The mounts of the system. Looked up once, because each sandbox needs them. */
export function systemMounts(withNetwork = false): readonly Mount[] {
  const found =
    known.get(withNetwork) ??
    [
      ...folders,
      ...[...etcNames, ...(withNetwork ? etcNamesOfNetwork : [])].map((name) => `/etc/${name}`),
    ].flatMap(mountOf)
  known.set(withNetwork, found)
  return found
}

function mountOf(path: string): Mount[] {
  if (!existsSync(path)) return []
  if (folders.includes(path) && lstatSync(path).isSymbolicLink())
    return [{ kind: 'link', path, target: readlinkSync(path) }]
  return [{ kind: 'read', path, source: realpathSync(path) }]
}

/** Whether every sandbox sees the path already. */
export function isOfSystem(path: string): boolean {
  return folders.some((folder) => isIn(path, folder))
}

/** The reason why a path must not be listed. Undefined: it may. `path` is real. */
export function tooWide(path: string, access: 'read' | 'write'): string | undefined {
  if (path === '/') return 'is the whole system'
  if (made.some((place) => isIn(path, place))) return 'is a part of the kernel, or a device'
  if (access === 'write' && fixed.some((place) => isIn(path, place) || isIn(place, path)))
    return 'is a part of the system'
  return undefined
}

/** Whether a folder holds the files of others too, so that a program in it must not show it. */
export function isShared(folder: string): boolean {
  return shared.includes(folder) || isIn(homedir(), folder)
}
