// A guard named on the command line, loaded into this process.

import { namedGuard } from '../../../client/guard-file.ts'
import { loadGuard } from '../../../client/load-guard.ts'
import type { AnyGuard } from '../../../shared/contract/guard.ts'

/** Errors: as namedGuard and loadGuard. */
export async function guardNamed(given: string): Promise<AnyGuard> {
  const { file, options } = namedGuard(given)
  return loadGuard(file, options)
}
