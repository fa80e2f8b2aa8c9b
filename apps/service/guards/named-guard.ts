// A guard named on the command line, loaded into this process.

import { namedGuard } from '../../../client/guards/guard-file.ts'
import { loadGuard } from '../../../client/guards/load-guard.ts'
import type { AnyGuard } from '../../../shared/contract/guard/guard.ts'

/** Errors: as namedGuard and loadGuard. */
export async function guardNamed(given: string): Promise<AnyGuard> {
  const { file, options } = namedGuard(given)
  return loadGuard(file, options)
}
