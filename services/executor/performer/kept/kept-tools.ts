// Command tools that may outlive their executor: this executor's, and those that former executors of
// the same data folder left.
// A claim of an executor that still runs is never read: that executor reports it.
// A file is kept until the log has its outcome, or `limits.keptResultMs` has passed.

import { rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { protectOwnPath } from '../../../../shared/lib/sandbox/own-paths.ts'
import { createKeeper, type Keeper, type KeeperOptions } from './keeper.ts'
import { isRunning } from './process-mark.ts'
import {
  type ClaimId,
  claimName,
  foldersIn,
  isMarkedRunning,
  type KeptResult,
  readProcesses,
  readResult,
  removeClaim,
  removeIfEmpty,
  requestStop,
} from './result-files.ts'

export type KeptTools = Keeper & {
  /** The state of another owner's claim. `isDead`: the bus proves that this owner is dead. */
  find(claim: ClaimId, isDead: boolean): Left
}

/**
 * `absent`: nothing here will ever have its result. `running`: its result may come. `remove`: the
 * log has the outcome. `stop`: nobody needs its result any more.
 */
export type Left =
  | { state: 'absent' }
  | { state: 'running'; stop: () => void }
  | { state: 'ended'; result: KeptResult; remove: () => void }

/** Next to the log, with a name that it knows (isNameBesideLog). */
const folderName = 'weir.tools'

export type KeptToolsOptions = Omit<KeeperOptions, 'root'> & { dataFolder: string; clock: Clock }

export function createKeptTools({ dataFolder, clock, ...options }: KeptToolsOptions): KeptTools {
  const root = resolve(dataFolder, folderName)
  protectOwnPath(root)
  const keeper = createKeeper({ root, ...options })
  sweep(root, clock)
  const cancelSweep = clock.after(limits.keptResultMs, () => sweep(root, clock))
  return {
    ...keeper,
    close() {
      cancelSweep()
      keeper.close()
    },
    find(claim, isDead) {
      const name = claimName(claim)
      const found = foldersIn(root).map((folder) => leftIn(folder, claim, name, isDead))
      return (
        found.find(({ state }) => state === 'ended') ??
        found.find(({ state }) => state === 'running') ?? { state: 'absent' }
      )
    },
  }
}

function leftIn(folder: string, claim: ClaimId, name: string, isDead: boolean): Left {
  const processes = readProcesses(folder)
  if (processes === undefined) return { state: 'absent' }
  // Before the result: a tool that ends in between has written its result by then.
  const mayCome = isRunning(processes.keeper) && isMarkedRunning(folder, name)
  const isOthers = !isDead && isRunning(processes.executor)
  const result = isOthers ? undefined : readResult(folder, claim)
  if (result === undefined)
    return mayCome ? { state: 'running', stop: () => requestStop(folder, name) } : absent
  const remove = () => {
    removeClaim(folder, name)
    if (!isRunning(processes.keeper)) removeIfEmpty(folder)
  }
  return { state: 'ended', result, remove }
}

const absent: Left = { state: 'absent' }

/** Removes the folders of dead executors that are empty, or older than any claim can be. */
function sweep(root: string, clock: Clock): void {
  for (const folder of foldersIn(root)) {
    const processes = readProcesses(folder)
    if (processes !== undefined && Object.values(processes).some(isRunning)) continue
    const { mtimeMs = 0 } = statSync(folder, { throwIfNoEntry: false }) ?? {}
    // Without the names of its processes it may be a folder that just begins.
    if (clock.now() - mtimeMs > limits.keptResultMs)
      rmSync(folder, { recursive: true, force: true })
    else if (processes !== undefined) removeIfEmpty(folder)
  }
}
