// A guard as somebody names it on the command line, loaded into this process.

import type { Guard } from '../../../shared/guard.ts'
import { loadGuard } from '../../../shared/guards/load-guard.ts'
import { namedGuard } from './guard-file.ts'

/** As namedGuard. Throws `guard.invalid` too. */
export async function guardNamed(given: string): Promise<Guard> {
  const { file, options } = namedGuard(given)
  return loadGuard(file, options)
}
