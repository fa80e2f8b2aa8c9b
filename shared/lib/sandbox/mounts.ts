// The mounts of a sandbox, in the order in which to make them: a path after the folders around it.
// A protected path (own-paths.ts) that a visible folder contains stays hidden or
// read-only, unless the confinement lists exactly that path.
// The program's files are read-only also in a writable folder. Folders between
// them and that folder are mounts too, because a mount cannot be renamed.
// No listed path lies in a folder that any declared sandbox may write, or leads through
// a link there. A program can put a link there before bubblewrap opens the path.
// A folder that holds an agent file is never writable: a file that a program adds
// there could run outside, as a package, a Makefile or another agent file.
// The folder of a tool's program is writable only if the confinement lists it: the
// program could load a file that an earlier call added.

import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { WeirError } from '../errors.ts'
import type { Confinement, Mount } from './confinement.ts'
import { followed, isIn, type Link } from './links.ts'
import { agentFileIn, isProgramFolder, ownPaths } from './own-paths.ts'
import { isOfSystem, systemMounts, tooWide } from './system-paths.ts'

/** Names that hold credentials, hidden directly in each added folder unless listed. */
export const credentialNames: readonly string[] = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.config/gcloud', '.kube', '.docker', '.netrc'],
  ...['.npmrc', '.pypirc', '.git-credentials', '.env', '.weir'],
  ...['weir.yaml', 'weir.json'],
]

type Access = 'read' | 'write' | 'hidden'

type Plan = {
  /** By real path. */
  access: Map<string, Access>
  /** Listed by the agent file, so that no protection applies to exactly that path. */
  listed: Set<string>
  links: Link[]
  system: readonly Mount[]
}

/** Folders that a sandbox may write, or was allowed to write. */
const everWritable = new Set<string>()

/**
 * Declares a sandbox before any program runs. Call it after all agent files and programs are known. A
 * path that is missing is left out: a sandbox with that path does not start.
 */
export function declareWritable({
  cwd,
  write,
  programFolders,
}: Pick<Confinement, 'write' | 'programFolders'> & { cwd: string }): void {
  const isThere = (path: string) => existsSync(path)
  const programs = new Set(programFolders.filter(isThere).map((path) => followed(path).real))
  const places = write.filter(isThere).map((path) => followed(path).real)
  const place = isThere(cwd) ? followed(cwd).real : undefined
  if (place !== undefined && !programs.has(place) && !isReadOnly(place)) places.push(place)
  for (const real of places) everWritable.add(real)
}

export type MountPlan = { mounts: Mount[]; cwd: string }

/** Throws `sandbox.refused` if a path is missing, too wide, or leads through a written link. */
export function mountPlan(confinement: Confinement): MountPlan {
  const system = systemMounts(confinement.network === 'all')
  const plan: Plan = { access: new Map(), listed: new Set(), links: [], system }
  const programs = new Set(confinement.programFolders.map((path) => add(plan, path, 'read')))
  const cwd = confinement.cwd === undefined ? '/' : addCwd(plan, confinement.cwd)
  for (const path of confinement.programFiles) programs.add(add(plan, path, 'read'))
  for (const path of confinement.read) plan.listed.add(add(plan, path, 'read'))
  for (const path of confinement.write) plan.listed.add(addWritable(plan, path))
  for (const [path, access] of plan.access) if (access === 'write') everWritable.add(path)
  refuseWrittenLinks(plan)
  refuseMovable(
    plan,
    [cwd, ...plan.listed].filter((path) => !programs.has(path)),
  )
  protect(plan)
  if (plan.access.get(cwd) === 'hidden' || (cwd !== '/' && isHidden(plan, cwd)))
    refuse(`its working folder ${cwd} lies in a folder that Weir keeps to itself; set cwd`)
  pin(plan)
  return { mounts: ordered(plan), cwd }
}

/** Returns the real path. */
function addCwd(plan: Plan, path: string): string {
  const { real } = following(path)
  const isRead = plan.access.has(real) || isReadOnly(real)
  return add(plan, path, isRead ? 'read' : 'write')
}

/** As a working folder. */
function isReadOnly(real: string): boolean {
  return isProgramFolder(real) || agentFileIn(real) !== undefined
}

/** Returns the real path. */
function addWritable(plan: Plan, path: string): string {
  const real = add(plan, path, 'write')
  const file = agentFileIn(real)
  if (file !== undefined)
    refuse(`${path} cannot be writable: it holds the agent file ${file}; name a folder below it`)
  return real
}

/** Returns the real path. */
function add(plan: Plan, path: string, access: 'read' | 'write'): string {
  const { real, links } = following(path)
  const fault = tooWide(real, access)
  if (fault !== undefined)
    refuse(`${path} cannot be a path of a sandbox: it ${fault}; name a folder of your own`)
  plan.access.set(real, access)
  plan.links.push(...links)
  return real
}

function following(path: string): ReturnType<typeof followed> {
  try {
    return followed(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return refuse(`${path} (${code}) is not there; create it, or correct sandbox in the agent file`)
  }
}

function refuseWrittenLinks({ links }: Plan): void {
  for (const { path } of links) {
    const writable = writableAround(path)
    if (writable !== undefined)
      refuse(
        `a path leads through the link ${path}, which a tool can change, because ${writable} is writable; name the target of the link`,
      )
  }
}

/** A path that the same sandbox may write anyway needs no mount. */
function refuseMovable(plan: Plan, paths: readonly string[]): void {
  for (const path of paths) {
    const folder = writableAround(path)
    if (folder === undefined) continue
    if (plan.access.get(path) !== 'write' || nearest(plan, dirname(path)) !== 'write')
      refuse(
        `${path} lies in ${folder}, which a tool can write, so it can become a link; name ${folder} itself, or a folder outside of it`,
      )
    plan.access.delete(path)
  }
}

/** A folder in which a tool could exchange the path. */
function writableAround(path: string): string | undefined {
  return [...everWritable].find((folder) => path !== folder && isIn(path, folder))
}

function protect(plan: Plan): void {
  const roots = [...plan.access.keys()]
  const visible = [...roots, ...plan.system.map(({ path }) => path)]
  const isVisible = (path: string) => visible.some((root) => isIn(path, root))
  const hide = (path: string) => {
    if (!plan.listed.has(path)) plan.access.set(path, 'hidden')
  }
  for (const root of roots)
    for (const name of credentialNames) {
      const path = join(root, name)
      if (existsSync(path)) hide(path)
    }
  for (const [path, protection] of ownPaths()) {
    const real = existsSync(path) ? followed(path).real : path
    if (!existsSync(real) || !isVisible(real)) continue
    if (protection === 'hidden') hide(real)
    else if (!plan.access.has(real) && isWritable(plan, real)) plan.access.set(real, 'read')
  }
  // An unlisted path in a hidden folder would be a window into it.
  for (const root of roots)
    if (!plan.listed.has(root) && isHidden(plan, root)) plan.access.delete(root)
}

function isHidden(plan: Plan, path: string): boolean {
  return nearest(plan, dirname(path)) === 'hidden'
}

function isWritable(plan: Plan, path: string): boolean {
  return nearest(plan, path) === 'write'
}

/** The access that holds for a path. */
function nearest({ access }: Plan, path: string): Access | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    const found = access.get(folder)
    if (found !== undefined || folder === '/') return found
  }
}

/** Holds the folders around a mount. */
function pin(plan: Plan): void {
  for (const path of [...plan.access.keys()])
    for (
      let folder = dirname(path);
      folder !== '/' && !plan.access.has(folder) && isWritable(plan, folder);
      folder = dirname(folder)
    )
      plan.access.set(folder, 'write')
}

function ordered(plan: Plan): Mount[] {
  const { access, links } = plan
  const isThereAnyway = (path: string) =>
    isOfSystem(path) && nearest(plan, dirname(path)) === undefined
  const paths = [...access].filter(([path, how]) => how !== 'read' || !isThereAnyway(path))
  const roots = [...access.keys(), ...plan.system.map(({ path }) => path)]
  const needed = links.filter(({ path }) => !roots.some((root) => isIn(path, root)))
  return [
    ...plan.system,
    ...new Map(
      needed.map((link): [string, Mount] => [link.path, { kind: 'link', ...link }]),
    ).values(),
    ...paths.map(([path, how]) => mountOf(path, how)).sort((a, b) => depth(a) - depth(b)),
  ]
}

function mountOf(path: string, access: Access): Mount {
  if (access === 'read') return { kind: 'read', path, source: path }
  if (access === 'write') return { kind: 'write', path }
  return { kind: statSync(path).isDirectory() ? 'hidden-folder' : 'hidden-file', path }
}

function depth({ path }: Mount): number {
  return path.split('/').length
}

function refuse(message: string): never {
  throw new WeirError('sandbox.refused', message)
}
