// A folder of guards: each module is one guard.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isModule, moduleEndings } from '../../../client/guards/guard-file.ts'
import { loadGuard } from '../../../client/guards/load-guard.ts'
import type { AnyGuard } from '../../../shared/contract/guard/guard.ts'
import { WeirError } from '../../../shared/lib/errors.ts'

/** In the order of the files. Throws `guard.invalid`, and `usage` for a folder without guards. */
export async function guardsIn(folder: string): Promise<AnyGuard[]> {
  const files = filesIn(folder)
  if (files.length === 0)
    throw new WeirError(
      'usage',
      `no guard in ${folder}: the names of modules end with ${moduleEndings.join(', ')}`,
    )
  const guards: AnyGuard[] = []
  for (const file of files) guards.push(await loadGuard(join(folder, file)))
  return guards
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isModule).sort()
  } catch (error) {
    throw noFolder(folder, error)
  }
}

function noFolder(folder: string, cause: unknown): WeirError {
  return new WeirError(
    'usage',
    `${folder} is no folder of guards: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  )
}
